#include "sensors/drm/fdinfo.hpp"

#include <limits>

#include "base/text/parse.hpp"
#include "base/text/split.hpp"

namespace wattle::drm {
namespace {

constexpr std::uint64_t kLargestTime = std::numeric_limits<std::int64_t>::max();

/// Absent where nothing was added, or something that is absent, or more than `most`.
class BoundedSum {
 public:
  void add(std::optional<std::uint64_t> value, std::uint64_t most = UINT64_MAX) noexcept {
    was_seen_ = true;
    is_known_ = is_known_ && value && *value <= most - sum_;
    if (is_known_) sum_ += *value;
  }
  [[nodiscard]] bool was_seen() const noexcept { return was_seen_; }
  [[nodiscard]] std::optional<std::uint64_t> value() const noexcept {
    return was_seen_ && is_known_ ? std::optional(sum_) : std::nullopt;
  }

 private:
  std::uint64_t sum_ = 0;
  bool was_seen_ = false;
  bool is_known_ = true;
};

/// "60060 KiB", "2 MiB", "0". MiB is never taken for MB: no other unit is defined.
std::optional<std::uint64_t> parse_bytes(std::string_view text) noexcept {
  const auto number = parse_unsigned<std::uint64_t>(take_word(text));
  const std::string_view unit = take_word(text);
  if (!number || !take_word(text).empty()) return std::nullopt;
  std::uint64_t factor = 1;
  if (unit == "KiB") {
    factor = std::uint64_t{1} << 10U;
  } else if (unit == "MiB") {
    factor = std::uint64_t{1} << 20U;
  } else if (!unit.empty()) {
    return std::nullopt;
  }
  if (*number > UINT64_MAX / factor) return std::nullopt;
  return *number * factor;
}

std::optional<std::uint64_t> parse_nanoseconds(std::string_view text) noexcept {
  const auto number = parse_unsigned<std::uint64_t>(take_word(text));
  const bool is_time = take_word(text) == "ns" && take_word(text).empty();
  return number && is_time ? number : std::nullopt;
}

/// True for the memory on the GPU's board: "vram" (amdgpu), "vram0" (xe), "local0" (i915). What
/// else there is lies in the machine's memory, or cannot be had by a process.
bool is_own_memory(std::string_view region) noexcept {
  if (!take_prefix(region, "vram") && !take_prefix(region, "local")) return false;
  return region.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Three keys for the same memory; the first that a driver knows counts.
struct ClientMemory {
  BoundedSum resident;  ///< what lies there now
  BoundedSum held;      ///< the same, by the name it had before Linux 6.5
  BoundedSum total;     ///< all buffers that may lie there, swapped out or not

  void add(std::string_view key, std::string_view value) noexcept {
    BoundedSum* sum = nullptr;
    if (take_prefix(key, "resident-")) {
      sum = &resident;
    } else if (take_prefix(key, "memory-")) {
      sum = &held;
    } else if (take_prefix(key, "total-")) {
      sum = &total;
    }
    if (sum != nullptr && is_own_memory(key)) sum->add(parse_bytes(value));
  }
  [[nodiscard]] std::optional<std::uint64_t> bytes() const noexcept {
    if (resident.was_seen()) return resident.value();
    return held.was_seen() ? held.value() : total.value();
  }
};

}  // namespace

ClientUsage parse_fdinfo(std::string_view text) noexcept {
  ClientUsage usage;
  ClientMemory memory;
  BoundedSum engines;
  while (!text.empty()) {
    std::string_view value = take_line(text);
    std::string_view key = take_key(value, ':');
    if (!take_prefix(key, "drm-")) continue;
    if (key == "pdev") {
      usage.pci_address = take_word(value);
    } else if (key == "client-id") {
      usage.client_id = parse_unsigned<std::uint64_t>(take_word(value));
    } else if (take_prefix(key, "engine-")) {
      if (!key.starts_with("capacity-")) engines.add(parse_nanoseconds(value), kLargestTime);
    } else {
      memory.add(key, value);
    }
  }
  usage.memory_bytes = memory.bytes();
  if (const auto time = engines.value()) {
    usage.engine_time = std::chrono::nanoseconds(static_cast<std::int64_t>(*time));
  }
  return usage;
}

}  // namespace wattle::drm
