// The text of /proc/PID/fdinfo/N for an open GPU, as Linux's drm-usage-stats.rst has it. A pure
// function; docs/sensors/drm.md has the facts.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace wattle::drm {

/// The usage of one open file of a GPU. A *client* is an opening of the device: descriptors that
/// were duplicated or inherited share one.
struct ClientUsage {
  std::string_view pci_address{};  ///< into the text; empty if absent
  std::optional<std::uint64_t> client_id{};
  /// Bytes of the GPU's own memory that the client's buffers take up; absent if it is not reported,
  /// or in a unit that the specification does not know.
  std::optional<std::uint64_t> memory_bytes{};
  /// Time that the GPU's engines worked for the client, all of them together.
  std::optional<std::chrono::nanoseconds> engine_time{};
};

[[nodiscard]] ClientUsage parse_fdinfo(std::string_view text) noexcept;

}  // namespace wattle::drm
