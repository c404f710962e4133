// GPUs as Linux's DRM drivers show them: the folders, links, files and formats of /sys/class/drm
// and of /proc/PID/fd and fdinfo, by the kernel's documentation (docs/sensors/drm.md).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "fakes/temp_folder.hpp"
#include "wattle/system.hpp"

namespace wattle::fakes {

/// Of the first card, where a test has one.
inline constexpr const char* kAddress = "0000:03:00.0";

/// `system()` points to it. Threads: one at a time.
class DrmTree {
 public:
  /// No cards, no processes.
  DrmTree();

  /// A device with `cardN`, its render node and a connector. `ids`: "1002:73BF".
  void add_card(int card, const std::string& address, std::string_view driver,
                std::string_view ids);
  /// amdgpu, a board: 100 W on average, 57 % busy, 4 of 16 GiB used, 51 degrees, 2.1 and 1 GHz.
  void add_rx6800(int card, const std::string& address);
  /// amdgpu, a server's board: 300 W at once, junction temperature, a serial number, a name.
  void add_mi210(int card, const std::string& address);
  /// amdgpu inside a processor: 15 W of both together.
  void add_apu(int card, const std::string& address);
  /// i915, a board: an energy counter at 123 J, limits of 190 and 228 W, no gauges but the clock.
  void add_arc(int card, const std::string& address);
  /// xe, a board whose counter of the package alone is shown.
  void add_battlemage(int card, const std::string& address);

  /// Replaces or adds a file of a card's device, by its path below that: "power/runtime_status".
  void write(int card, const std::string& file, std::string_view content);
  /// The same below `hwmon/hwmonN`.
  void write_hwmon(int card, const std::string& file, std::string_view content);
  void remove(int card, const std::string& file);
  /// Sets a number in place, so that a reader sees the old or the new one, never an empty file.
  void set_number(int card, const std::string& file, std::uint64_t value);
  void set_hwmon_number(int card, const std::string& file, std::uint64_t value);

  /// Descriptor `fd` of process `pid`, open on `target`, with what its driver says of it.
  void open_file(pid_t pid, int fd, const std::string& target, std::string_view fdinfo);
  /// The same for the render node of a card.
  void open_gpu(pid_t pid, int fd, int card, std::string_view fdinfo);

  [[nodiscard]] std::filesystem::path device(int card) const;
  /// "hwmon/hwmonN" of a card: the number is another than the card's.
  [[nodiscard]] static std::string hwmon(int card);
  [[nodiscard]] std::filesystem::path root() const { return folder_.path(); }
  [[nodiscard]] System system() const;

 private:
  TempFolder folder_;
};

/// An amdgpu client's fdinfo, with memory in the kernel's own unit.
[[nodiscard]] std::string amdgpu_fdinfo(std::string_view address, int client,
                                        std::uint64_t vram_kib, std::uint64_t engine_ns);

}  // namespace wattle::fakes
