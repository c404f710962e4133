// A procfs whose processes a test makes up.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fakes/temp_folder.hpp"
#include "wattle/system.hpp"

namespace wattle::fakes {

/// Times are in clock ticks.
struct FakeProcess {
  int pid = 0;
  int parent = 1;
  char state = 'S';
  std::string name = "x";
  std::uint64_t user = 0;
  std::uint64_t system = 0;
  std::uint64_t waited_user = 0;
  std::uint64_t waited_system = 0;
  std::uint64_t threads = 1;
  std::uint64_t start_time = 1000;
  std::uint64_t address_bytes = 1'000'000;
  std::uint64_t rss_kib = 400;
  std::uint64_t shared_kib = 100;
  std::uint64_t pss_kib = 300;  ///< 0: its smaps_rollup cannot be read
  std::uint64_t private_kib = 200;
  std::uint64_t peak_kib = 400;
  std::uint64_t minor_faults = 7;
  std::uint64_t waited_minor_faults = 8;
  std::uint64_t major_faults = 9;
  std::uint64_t waited_major_faults = 10;
  std::uint64_t io_bytes =
      0;  ///< read; ten times that written; twice and thrice from and to storage
  bool has_io = true;
  std::uint64_t switches = 0;  ///< voluntary of its first thread; twice that involuntary
  std::vector<int> children{};
};

/// Threads: one at a time.
class ProcessFiles {
 public:
  /// `lists_children`: whether this kernel has the files for that.
  explicit ProcessFiles(bool lists_children = true) : lists_children_(lists_children) {}

  void put(const FakeProcess& process) const;
  /// It ended, and was waited for.
  void take(int pid) const;
  [[nodiscard]] System system() const;
  [[nodiscard]] const TempFolder& folder() const noexcept { return folder_; }

 private:
  bool lists_children_;
  TempFolder folder_;
};

}  // namespace wattle::fakes
