// Memory of several processes in which each page counts once, and the bounds of what is not known
// of it. Arithmetic only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "sensors/proc_tables.hpp"
#include "usage/process/process.hpp"

namespace wattle {

/// The memory of a group of processes, in bytes.
struct MemoryBounds {
  std::uint64_t total_bytes = 0;
  std::uint64_t private_bytes = 0;  ///< of `total_bytes`: in no other process
  bool are_upper = false;           ///< some process's PSS is not known: bounds, not values
};

/// Processes whose proportional memory (PSS) was read, and others, whose resident set alone is
/// known. After a fork parent and child have the same pages, so resident sets count a page as often
/// as there are processes that have it; the machine's own account has it once. Threads: a value
/// type.
class MemorySum {
 public:
  void add(const ProportionalMemory& known) noexcept {
    known_ += known.pss_bytes;
    known_private_ += known.private_bytes;
  }
  void add_without_pss(const ProcessMemory& memory) noexcept {
    anonymous_ += memory.rss_bytes - memory.shared_bytes;
    of_files_ += memory.shared_bytes;
    ++bounded_;
  }
  void add(const MemorySum& other) noexcept {
    known_ += other.known_;
    known_private_ += other.known_private_;
    anonymous_ += other.anonymous_;
    of_files_ += other.of_files_;
    bounded_ += other.bounded_;
  }

  [[nodiscard]] bool needs_bounds() const noexcept { return bounded_ > 0; }

  /// `machine`: what all processes of the machine have mapped; absent where it is not known. With
  /// it no bound is above the machine's memory.
  [[nodiscard]] MemoryBounds bounds(const std::optional<MappedMemory>& machine) const noexcept {
    if (!needs_bounds()) return {.total_bytes = known_, .private_bytes = known_private_};
    const std::uint64_t anonymous =
        machine ? std::min(anonymous_, machine->anonymous_bytes) : anonymous_;
    const std::uint64_t of_files = machine ? std::min(of_files_, machine->file_bytes) : of_files_;
    MemoryBounds bounds{.total_bytes = known_ + anonymous + of_files,
                        .private_bytes = known_private_ + most_private(anonymous),
                        .are_upper = true};
    if (machine) {
      bounds.total_bytes =
          std::min({bounds.total_bytes, machine->anonymous_bytes + machine->file_bytes,
                    machine->machine_bytes});
      bounds.private_bytes = std::min(bounds.private_bytes, bounds.total_bytes);
    }
    return bounds;
  }

 private:
  /// Takes n processes whose pages come to at most U, each once, and to R, each as often as it is
  /// resident: a page that several have is in R at most n times. So R <= P + n (U - P), where P are
  /// private, and P <= (n U - R) / (n - 1).
  [[nodiscard]] std::uint64_t most_private(std::uint64_t once) const noexcept {
    if (bounded_ < 2 || once >= anonymous_) return std::min(once, anonymous_);
    const auto n = static_cast<double>(bounded_);
    const double most = (n * static_cast<double>(once) - static_cast<double>(anonymous_)) / (n - 1);
    return most > 0.0 ? std::min(once, static_cast<std::uint64_t>(most)) : 0;
  }

  std::uint64_t known_ = 0;
  std::uint64_t known_private_ = 0;
  std::uint64_t anonymous_ = 0;  ///< sum of resident sets, of those without PSS
  std::uint64_t of_files_ = 0;   ///< likewise, of files and shared memory
  std::uint64_t bounded_ = 0;    ///< how many
};

}  // namespace wattle
