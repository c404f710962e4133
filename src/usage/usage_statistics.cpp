#include "usage/usage_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/text/text.hpp"
#include "usage/files/usage_units.hpp"
#include "usage/process/process_ledgers.hpp"

namespace wattle {
namespace {

using std::chrono::nanoseconds;

/// A span is a second; half of it is representative enough.
constexpr std::chrono::milliseconds kLeastSpan{500};

/// The tolerated part of a sum, as one in N: see `TreeMemory`.
constexpr std::uint64_t kTolerance = 50;

constexpr std::string_view kTooShort = "it ended before its memory was read";
constexpr std::string_view kBetweenLooks =
    "the peak came between two samples: the kernel keeps the largest total of a process alone";

std::string reason_of(const PssGaps& gaps) {
  std::vector<std::string_view> parts;
  if (gaps.denied > 0) parts.emplace_back("this user may not read that of every process");
  if (gaps.too_large > 0) {
    parts.emplace_back("a process is so large that reading it would take more than 100 ms");
  }
  if (gaps.budget > 0) parts.emplace_back("reading all would take more than 1 % of a core");
  if (parts.empty()) return "the PSS of no process could be read in time";
  return "the PSS of some processes was not read: " + joined(parts, "; ");
}

}  // namespace

void CpuPercentTracker::begin(TimePoint at, Time cpu) noexcept {
  begin_ = span_ = last_ = {.at = at, .cpu = cpu};
}

void CpuPercentTracker::add(TimePoint at, Time cpu, bool ends_span) noexcept {
  last_ = {.at = at, .cpu = std::max(cpu, last_.cpu)};
  if (ends_span && last_.at - span_.at >= kLeastSpan) end_span();
}

void CpuPercentTracker::end() noexcept {
  if (!max_ || last_.at - span_.at >= kLeastSpan) end_span();
}

void CpuPercentTracker::end_span() noexcept {
  if (const auto busy = cpu_percent(last_.cpu - span_.cpu, last_.at - span_.at)) {
    max_ = std::max(max_.value_or(0.0), *busy);
  }
  span_ = last_;
}

std::optional<double> CpuPercentTracker::mean() const noexcept {
  return cpu_percent(last_.cpu - begin_.cpu, last_.at - begin_.at);
}

std::optional<double> CpuPercentTracker::max() const noexcept {
  const auto all = mean();
  return max_ && all ? std::max(*max_, *all) : all;
}

void UsageStatistics::MemoryPeak::update(std::uint64_t seen_total,
                                         std::uint64_t seen_own) noexcept {
  if (seen_total < total || (seen_total == total && total > 0)) return;
  total = seen_total;
  of_own = std::min(seen_own, seen_total);
}

void UsageStatistics::MemoryPeaks::update(const GroupState& state) noexcept {
  (state.is_estimated ? bound : known).update(state.pss_bytes, state.private_bytes);
  if (state.is_estimated) least = std::max(least, state.least_bytes);
  most_resident = std::max(most_resident, state.rss_bytes);
}

bool UsageStatistics::MemoryPeaks::is_known() const noexcept {
  return bound.total == 0 ||
         (known.total > 0 && least - std::min(least, known.total) <= known.total / kTolerance);
}

bool UsageStatistics::MemoryPeaks::has_larger_bound() const noexcept {
  return bound.total > known.total && bound.total - known.total > known.total / kTolerance;
}

void UsageStatistics::begin(const TreeState& state, bool includes_memory) noexcept {
  main_.busy.begin(state.at, state.main.cpu);
  descendants_.busy.begin(state.at, state.descendants.cpu);
  combined_.busy.begin(state.at, state.main.cpu + state.descendants.cpu);
  if (includes_memory) add_sample(state);
}

void UsageStatistics::add(const TreeState& state) noexcept {
  main_.busy.add(state.at, state.main.cpu, state.is_complete);
  descendants_.busy.add(state.at, state.descendants.cpu, state.is_complete);
  combined_.busy.add(state.at, state.main.cpu + state.descendants.cpu, state.is_complete);
  add_sample(state);
}

void UsageStatistics::end() noexcept {
  for (GroupStatistics* group : {&main_, &descendants_, &combined_}) group->busy.end();
}

void UsageStatistics::add_sample(const TreeState& state) noexcept {
  const GroupState& main = state.main;
  const GroupState& rest = state.descendants;
  const GroupState& both = state.combined;
  // The total of one process is its resident set, whatever is known of its PSS.
  GroupState resident = main;
  resident.pss_bytes = resident.least_bytes = main.rss_bytes;
  main_.memory.update(resident);
  descendants_.memory.update(rest);
  combined_.memory.update(both);
  main_.threads = std::max(main_.threads, main.threads);
  descendants_.threads = std::max(descendants_.threads, rest.threads);
  combined_.threads = std::max(combined_.threads, main.threads + rest.threads);
}

/// `peak_bytes`: of the largest single process among them.
void UsageStatistics::fill_memory_of(ResourceUsage& usage, RSSValues& values,
                                     const MemoryPeaks& peaks, bool is_total_exact,
                                     std::uint64_t peak_bytes, const std::string& key) {
  const bool is_known = peaks.is_known();
  const MemoryPeak& seen = is_known ? peaks.known : peaks.bound;
  const double unit = bytes_in(usage.max_ram.unit, "RAM");
  const auto in_unit = [&](std::uint64_t bytes) { return static_cast<double>(bytes) / unit; };
  std::vector<std::string> split = {key + ".private_rss", key + ".shared_rss"};
  // A tenth is no other moment: counters lag, and memory grows while it is read.
  constexpr std::uint64_t kMuch = 10;
  if (peak_bytes > peaks.most_resident && peak_bytes - peaks.most_resident > peak_bytes / kMuch) {
    values.total_rss = in_unit(std::max(peak_bytes, seen.total));
    usage.unknown.push_back({std::move(split), std::string(kBetweenLooks)});
    return;
  }
  // The most that one process holds is known exactly; counting each page once it is less.
  const bool is_of_one = is_total_exact || (is_known && seen.total == peaks.most_resident);
  const std::uint64_t total = is_of_one ? std::max(peaks.most_resident, peak_bytes) : seen.total;
  values.total_rss = in_unit(total);
  values.private_rss = in_unit(seen.of_own);
  values.shared_rss = in_unit(total - seen.of_own);
  if (is_known) {
    if (!is_total_exact && peaks.has_larger_bound()) {
      usage.bounds.push_back({key + ".total_rss", in_unit(peaks.bound.total)});
    }
    return;
  }
  if (!is_total_exact) usage.estimated.push_back(key + ".total_rss");
  usage.estimated.push_back(std::move(split[0]));
  // A bound less a bound is no bound.
  values.shared_rss.reset();
  usage.unknown.push_back({{std::move(split[1])}, "only bounds of the two others are known"});
}

void UsageStatistics::fill_memory(ResourceUsage& usage, const PeakMemory& peaks) const {
  // None of the processes has no memory: that would be no process.
  if (main_.memory.most_resident == 0 && peaks.main_bytes == 0) {
    usage.unknown.push_back(
        {{"max_ram.main", "max_ram.descendants", "max_ram.combined"}, std::string(kTooShort)});
    return;
  }
  MaxRAM& ram = usage.max_ram;
  fill_memory_of(usage, ram.main, main_.memory, true, peaks.main_bytes, "max_ram.main");
  fill_memory_of(usage, ram.combined, combined_.memory, false, peaks.largest_bytes(),
                 "max_ram.combined");
  fill_memory_of(usage, ram.descendants, descendants_.memory, false, peaks.descendant_bytes,
                 "max_ram.descendants");
}

void UsageStatistics::fill_pss(ResourceUsage& usage, const PssGaps& gaps) const {
  const MemoryPeaks& peaks = combined_.memory;
  if (peaks.known.total == 0 || !peaks.is_known()) {
    usage.unknown.push_back({{"peak_pss_bytes"}, reason_of(gaps)});
    return;
  }
  usage.peak_pss_bytes = peaks.known.total;
  if (!peaks.has_larger_bound()) return;
  usage.bounds.push_back({"peak_pss_bytes", static_cast<double>(peaks.bound.total)});
}

void UsageStatistics::fill_threads(ResourceUsage& usage) const {
  if (main_.memory.most_resident == 0) {  // as for memory: nothing was read in time
    usage.unknown.push_back(
        {{"cpu_utilization.main_n_threads", "cpu_utilization.descendants_n_threads",
          "cpu_utilization.combined_n_threads"},
         "it ended before it was read"});
    return;
  }
  CPUUtilization& cpu = usage.cpu_utilization;
  cpu.main_n_threads = static_cast<unsigned>(main_.threads);
  cpu.descendants_n_threads = static_cast<unsigned>(descendants_.threads);
  cpu.combined_n_threads = static_cast<unsigned>(combined_.threads);
}

void UsageStatistics::fill(ResourceUsage& usage, const PssGaps& gaps,
                           const PeakMemory& peaks) const {
  fill_memory(usage, peaks);
  CPUUtilization& cpu = usage.cpu_utilization;
  const auto percentages = [&](const CpuPercentTracker& busy) {
    return percentages_of(busy.max(), busy.mean(), cpu.n_expected_cores);
  };
  cpu.main = percentages(main_.busy);
  cpu.descendants = percentages(descendants_.busy);
  cpu.combined = percentages(combined_.busy);
  fill_threads(usage);
  fill_pss(usage, gaps);
}

}  // namespace wattle
