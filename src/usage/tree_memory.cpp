// How a tree reader finds what processes have in memory, each page once.
#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string_view>

#include "usage/tree_reader.hpp"

namespace wattle {
namespace {

/// /proc/PID/smaps_rollup is shorter, and so is the part of /proc/meminfo that is needed.
using RollupText = std::array<char, 4096>;

std::string_view read_part(const RollupText& text, ssize_t count) noexcept {
  return {text.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
}

}  // namespace

/// As far as the budget goes, beginning behind where it ended the last time.
void TreeReader::read_proportional() {
  const std::size_t count = watched_.size();
  pss_turn_ %= std::max<std::size_t>(count, 1);
  const std::size_t first = pss_turn_;
  for (std::size_t i = 0; i < count; ++i) {
    Watched& process = watched_[(first + i) % count];
    process.proportional.reset();
    const std::uint64_t rss = process.memory.rss_bytes;
    if (rss == 0 || process.is_tracker || options_.is_launcher) {
      process.proportional.emplace();
    } else if (process.is_denied) {
      ++gaps_.denied;
    } else if (budget_.is_too_large(rss)) {
      ++gaps_.too_large;
    } else if (!budget_.allows(rss)) {
      ++gaps_.budget;
    } else {
      process.proportional = proportional(process);
      pss_turn_ = first + i + 1;
    }
  }
}

std::optional<ProportionalMemory> TreeReader::proportional(Watched& process) {
  const TimePoint begin = clock_.now();
  // Not kept open: it belongs to one program, and ends where another is executed.
  const Fd fd = procfs_.open(process.pid, ProcessFile::smaps_rollup);
  process.is_denied = !fd && (errno == EACCES || errno == EPERM);
  if (process.is_denied) ++gaps_.denied;
  RollupText text;
  const ssize_t count = fd ? read_at_start(fd.get(), text) : -1;
  budget_.spend(clock_.now() - begin);
  return parse_smaps_rollup(read_part(text, count));
}

void TreeReader::sum_memory(TreeState& state) {
  MemorySum main;
  MemorySum descendants;
  for (const Watched& process : watched_) {
    if (process.is_tracker) continue;
    const bool is_main = process.pid == root_;
    MemorySum& sum = is_main ? main : descendants;
    if (process.proportional) {
      sum.add(*process.proportional);
    } else {
      sum.add_without_pss(process.memory);
    }
    (is_main ? state.main : state.descendants).rss_bytes += process.memory.rss_bytes;
  }
  MemorySum both = main;
  both.add(descendants);
  std::optional<MappedMemory> machine;
  if (both.needs_bounds()) {
    RollupText text;
    if (!meminfo_) meminfo_ = open_for_reading(meminfo_path_);
    machine = parse_mapped_memory(read_part(text, read_at_start(meminfo_.get(), text)));
  }
  const auto fill = [&](GroupState& group, const MemorySum& sum) {
    const MemoryBounds bounds = sum.bounds(machine);
    group.pss_bytes = bounds.total_bytes;
    group.private_bytes = bounds.private_bytes;
    group.is_estimated = bounds.are_upper;
  };
  fill(state.main, main);
  fill(state.descendants, descendants);
  fill(state.combined, both);
  state.combined.rss_bytes = state.main.rss_bytes + state.descendants.rss_bytes;
  // What the two have in common is private to neither.
  for (GroupState* part : {&state.main, &state.descendants}) {
    if (!part->is_estimated) continue;
    part->private_bytes = std::min(part->private_bytes, state.combined.private_bytes);
  }
}

}  // namespace wattle
