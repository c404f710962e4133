#include "sensors/cray/counter_file.hpp"

#include "base/text/parse.hpp"
#include "base/text/split.hpp"

namespace wattle::cray {
namespace {

/// "cpu", "memory", "accel", and each with a number: "accel0".
bool is_known_part(std::string_view part) noexcept {
  constexpr std::size_t kMostDigits = 9;  // longer names are no names of domains
  const std::size_t length = part.size();
  while (!part.empty() && is_digit(part.back())) part.remove_suffix(1);
  if (length - part.size() > kMostDigits) return false;
  return part == "cpu" || part == "memory" || part == "accel";
}

}  // namespace

std::optional<StatedValue> parse_stated_value(std::string_view text,
                                              std::string_view unit) noexcept {
  if (text.ends_with('\n')) text.remove_suffix(1);
  const auto raw = parse_unsigned<std::uint64_t>(take_word(text));
  if (!raw || take_word(text) != unit) return std::nullopt;
  const std::string_view time = take_word(text);
  if (time.empty()) return StatedValue{.raw = *raw};
  const auto at_us = parse_unsigned<std::uint64_t>(time);
  if (!at_us || take_word(text) != "us" || !take_word(text).empty()) return std::nullopt;
  return StatedValue{.raw = *raw, .at_us = *at_us};
}

std::optional<CounterName> parse_counter_name(std::string_view file) noexcept {
  const std::size_t split = file.rfind('_');
  const bool is_node = split == std::string_view::npos;
  const std::string_view part = is_node ? kNode : file.substr(0, split);
  if (!is_node && !is_known_part(part)) return std::nullopt;
  const std::string_view quantity = is_node ? file : file.substr(split + 1);
  if (quantity == "energy") return CounterName{.metric = Metric::energy, .part = part};
  if (quantity == "power") return CounterName{.metric = Metric::power_instant, .part = part};
  return std::nullopt;
}

}  // namespace wattle::cray
