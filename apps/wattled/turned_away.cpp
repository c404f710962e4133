#include "turned_away.hpp"

#include <fmt/format.h>

namespace wattle::daemon {
namespace {

std::string_view reason_of(TurnedAway reason) noexcept {
  switch (reason) {
    case TurnedAway::full:
      return "all places are taken";
    case TurnedAway::client:
      return "too many connections of one client";
    case TurnedAway::token:
      return "too many streams of one token";
    case TurnedAway::unread:
      return "answers that were not read";
  }
  return {};
}

}  // namespace

std::string_view name_of(TurnedAway reason) noexcept {
  switch (reason) {
    case TurnedAway::full:
      return "full";
    case TurnedAway::client:
      return "client";
    case TurnedAway::token:
      return "token";
    case TurnedAway::unread:
      return "unread";
  }
  return {};
}

void TurnedAwayCounts::count(TurnedAway reason) noexcept {
  ++counts_.at(static_cast<std::size_t>(reason));
}

std::optional<std::string> TurnedAwayCounts::news(TimePoint now) {
  if (counts_ == told_ || (told_at_ && now - *told_at_ < kBetweenLines)) return std::nullopt;
  std::string text;
  for (const TurnedAway reason : kTurnedAway) {
    const auto index = static_cast<std::size_t>(reason);
    const std::uint64_t more = counts_.at(index) - told_.at(index);
    if (more == 0) continue;
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", more, reason_of(reason));
  }
  told_ = counts_;
  told_at_ = now;
  return "turned clients away: " + text;
}

}  // namespace wattle::daemon
