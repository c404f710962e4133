#include "usage/usage_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "usage/cpu_ledger.hpp"
#include "usage/usage_units.hpp"

namespace wattle {
namespace {

using std::chrono::nanoseconds;

/// A span is a second, of which half shows well enough what it was like.
constexpr std::chrono::milliseconds kLeastSpan{500};

ProcessingUnitPercentages percentages(const Busyness& busy, std::optional<unsigned> units) {
  ProcessingUnitPercentages result;
  result.max_sum_percent = busy.max();
  result.mean_sum_percent = busy.mean();
  if (!units || *units == 0) return result;
  if (result.max_sum_percent) result.max_hardware_percent = *result.max_sum_percent / *units;
  if (result.mean_sum_percent) result.mean_hardware_percent = *result.mean_sum_percent / *units;
  return result;
}

constexpr std::string_view kTooShort = "it ended before a look at its memory";

std::string reason_of(const PssGaps& gaps) {
  std::vector<std::string> parts;
  if (gaps.denied > 0) parts.emplace_back("this user may not read that of every process");
  if (gaps.too_large > 0) {
    parts.emplace_back("a process is so large that reading it would take more than 20 ms");
  }
  if (gaps.budget > 0) parts.emplace_back("reading all would take more than 1 % of a core");
  std::string reason = "the PSS of some processes was not read: ";
  for (std::size_t i = 0; i < parts.size(); ++i) reason += (i > 0 ? "; " : "") + parts[i];
  return parts.empty() ? "the PSS of no process could be read in time" : reason;
}

}  // namespace

void Busyness::begin(TimePoint at, Time cpu) noexcept {
  begin_ = span_ = last_ = {.at = at, .cpu = cpu};
}

void Busyness::add(TimePoint at, Time cpu, bool ends_span) noexcept {
  last_ = {.at = at, .cpu = std::max(cpu, last_.cpu)};
  if (ends_span && last_.at - span_.at >= kLeastSpan) end_span();
}

void Busyness::end() noexcept {
  if (!max_ || last_.at - span_.at >= kLeastSpan) end_span();
}

void Busyness::end_span() noexcept {
  if (const auto busy = percent(last_.cpu - span_.cpu, last_.at - span_.at)) {
    max_ = std::max(max_.value_or(0.0), *busy);
  }
  span_ = last_;
}

std::optional<double> Busyness::mean() const noexcept {
  return percent(last_.cpu - begin_.cpu, last_.at - begin_.at);
}

std::optional<double> Busyness::max() const noexcept {
  const auto all = mean();
  return max_ && all ? std::max(*max_, *all) : all;
}

void UsageStatistics::MemoryPeak::see(std::uint64_t seen_total, std::uint64_t seen_own,
                                      bool total_estimated, bool split_estimated) noexcept {
  if (seen_total < total || (seen_total == total && total > 0)) return;
  *this = {.total = seen_total,
           .of_own = std::min(seen_own, seen_total),
           .is_total_estimated = total_estimated,
           .is_split_estimated = split_estimated};
}

void UsageStatistics::begin(const TreeState& state, bool looks) noexcept {
  main_.busy.begin(state.at, state.main.cpu);
  descendants_.busy.begin(state.at, state.descendants.cpu);
  combined_.busy.begin(state.at, state.main.cpu + state.descendants.cpu);
  if (looks) look(state);
}

void UsageStatistics::add(const TreeState& state) noexcept {
  main_.busy.add(state.at, state.main.cpu, state.is_complete);
  descendants_.busy.add(state.at, state.descendants.cpu, state.is_complete);
  combined_.busy.add(state.at, state.main.cpu + state.descendants.cpu, state.is_complete);
  look(state);
}

void UsageStatistics::end() noexcept {
  for (Group* group : {&main_, &descendants_, &combined_}) group->busy.end();
}

void UsageStatistics::look(const TreeState& state) noexcept {
  const GroupState& main = state.main;
  const GroupState& rest = state.descendants;
  const bool any_estimated = main.is_estimated || rest.is_estimated;
  main_.memory.see(main.rss_bytes, main.private_bytes, false, main.is_estimated);
  descendants_.memory.see(rest.pss_bytes, rest.private_bytes, rest.is_estimated, rest.is_estimated);
  combined_.memory.see(main.pss_bytes + rest.pss_bytes, main.private_bytes + rest.private_bytes,
                       any_estimated, any_estimated);
  if (!any_estimated) peak_pss_bytes_ = std::max(peak_pss_bytes_, main.pss_bytes + rest.pss_bytes);
  main_.threads = std::max(main_.threads, main.threads);
  descendants_.threads = std::max(descendants_.threads, rest.threads);
  combined_.threads = std::max(combined_.threads, main.threads + rest.threads);
}

void UsageStatistics::fill_memory(ResourceUsage& usage) const {
  const double factor = memory_factor(usage.max_ram.unit, "RAM");
  const auto fill_one = [&](RSSValues& values, const MemoryPeak& peak, const std::string& key) {
    values.total_rss = static_cast<double>(peak.total) * factor;
    values.private_rss = static_cast<double>(peak.of_own) * factor;
    values.shared_rss = static_cast<double>(peak.total - peak.of_own) * factor;
    if (peak.is_total_estimated) usage.estimated.push_back(key + ".total_rss");
    if (peak.is_split_estimated) {
      usage.estimated.push_back(key + ".private_rss");
      usage.estimated.push_back(key + ".shared_rss");
    }
  };
  // None of the processes has no memory: that would be no process.
  if (main_.memory.total > 0) {
    fill_one(usage.max_ram.main, main_.memory, "max_ram.main");
    fill_one(usage.max_ram.combined, combined_.memory, "max_ram.combined");
    fill_one(usage.max_ram.descendants, descendants_.memory, "max_ram.descendants");
  } else {
    usage.unknown.push_back(
        {{"max_ram.main", "max_ram.descendants", "max_ram.combined"}, std::string(kTooShort)});
  }
}

void UsageStatistics::fill_threads(ResourceUsage& usage) const {
  if (main_.memory.total == 0) {  // as for memory: nobody was looked at in time
    usage.unknown.push_back(
        {{"cpu_utilization.main_n_threads", "cpu_utilization.descendants_n_threads",
          "cpu_utilization.combined_n_threads"},
         "it ended before a look at it"});
    return;
  }
  CPUUtilization& cpu = usage.cpu_utilization;
  cpu.main_n_threads = static_cast<unsigned>(main_.threads);
  cpu.descendants_n_threads = static_cast<unsigned>(descendants_.threads);
  cpu.combined_n_threads = static_cast<unsigned>(combined_.threads);
}

void UsageStatistics::fill(ResourceUsage& usage, const PssGaps& gaps) const {
  fill_memory(usage);
  CPUUtilization& cpu = usage.cpu_utilization;
  cpu.main = percentages(main_.busy, cpu.n_expected_cores);
  cpu.descendants = percentages(descendants_.busy, cpu.n_expected_cores);
  cpu.combined = percentages(combined_.busy, cpu.n_expected_cores);
  fill_threads(usage);
  if (gaps.any() || peak_pss_bytes_ == 0) {
    usage.unknown.push_back({{"peak_pss_bytes"}, reason_of(gaps)});
  } else {
    usage.peak_pss_bytes = peak_pss_bytes_;
  }
}

}  // namespace wattle
