// Attributes of sysfs that hold one number, read again and again.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/files/fd.hpp"
#include "sensors/sensor.hpp"

namespace wattle {

/// The status of a reading after such an `errno`. A device that was taken away, or whose driver
/// was, is `gone`; anything else may pass.
[[nodiscard]] constexpr ReadStatus status_of(int error) noexcept {
  switch (error) {
    case ENODEV:  // the file is open but dead
    case ENXIO:
    case ENOENT:
    case EBADF:
    case ESTALE:
      return ReadStatus::gone;
    default:
      return ReadStatus::retry;
  }
}

/// Room for what an attribute shows: 20 digits and a line end. Text that fills it may be cut off.
using AttributeText = std::array<char, 32>;

/// The value of an attribute. `error`: the `errno` where there is no number, 0 for text that is no
/// value.
struct AttributeValue {
  std::optional<std::uint64_t> raw{};
  int error = 0;
};

/// The number that `parse` finds in the text of a file that is open; `Text`: room for it.
template <class Text = AttributeText, class Parse>
[[nodiscard]] AttributeValue read_attribute(const Fd& file, const Parse& parse) noexcept {
  Text text;
  const ssize_t count = read_at_start(file.get(), text);
  if (count < 0) return {.error = errno};
  const std::string_view shown(text.data(), static_cast<std::size_t>(count));
  return {.raw = shown.size() < text.size() ? parse(shown) : std::nullopt};
}

/// Reads the wanted ones of `count` channels, one after the other: `read` gives the
/// `AttributeValue` of the channel with that number.
template <class Read>
void read_in_turn(const TimeSource& clock, ChannelSet wanted, std::size_t count,
                  std::span<Reading> readings, const Read& read) noexcept {
  TimePoint before = clock.now();
  for (std::size_t i = 0; i < std::min(readings.size(), count); ++i) {
    if (!wanted[i]) continue;
    const AttributeValue value = read(i);
    const TimePoint after = clock.now();
    readings[i] = reading_between(before, after, value.raw.value_or(0),
                                  value.raw ? ReadStatus::ok : status_of(value.error));
    before = after;
  }
}

}  // namespace wattle
