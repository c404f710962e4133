#include "http/turned_away.hpp"

#include <fmt/format.h>

#include "base/json/enum_table.hpp"

namespace wattle::daemon {
namespace {

struct Texts {
  std::string_view name;
  std::string_view reason;
};
/// Indexed by `TurnedAway`.
constexpr std::array<Texts, kTurnedAway.size()> kTexts = {
    {{"full", "all places are taken"},
     {"client", "too many connections of one client"},
     {"token", "too many streams of one token"},
     {"unread", "answers that were not read"}}};
static_assert(!kTexts.back().name.empty());

const Texts& texts_of(TurnedAway reason) noexcept { return entry_of(kTexts, reason); }

}  // namespace

std::string_view name_of(TurnedAway reason) noexcept { return texts_of(reason).name; }

void TurnedAwayCounts::count(TurnedAway reason) noexcept {
  ++counts_.at(static_cast<std::size_t>(reason));
}

std::optional<std::string> TurnedAwayCounts::news(TimePoint now) {
  if (counts_ == reported_ || (reported_at_ && now - *reported_at_ < kBetweenLines))
    return std::nullopt;
  std::string text;
  for (const TurnedAway reason : kTurnedAway) {
    const auto index = static_cast<std::size_t>(reason);
    const std::uint64_t more = counts_.at(index) - reported_.at(index);
    if (more == 0) continue;
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", more, texts_of(reason).reason);
  }
  reported_ = counts_;
  reported_at_ = now;
  return "turned clients away: " + text;
}

}  // namespace wattle::daemon
