#include "run/run_estimate.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/text/quantity.hpp"
#include "estimate/baseline.hpp"
#include "sampling/energy_sum.hpp"
#include "sensors/sensor.hpp"

namespace wattle::app {
namespace {

std::optional<Seconds> cpu_time_of(const ResourceUsage& usage) {
  if (!usage.cpu_user || !usage.cpu_system) return std::nullopt;
  return *usage.cpu_user + *usage.cpu_system;
}

/// Intervals without a known energy are left out: their parts are taken to be those of the others.
std::vector<ShareSpan> spans_of(const Instruments& instruments,
                                const std::vector<std::string>& domains, Seconds cpu_time) {
  std::vector<ShareSpan> spans;
  const std::vector<ShareMoment>& moments = instruments.share_moments();
  // Processes between two samples are in the exact sum alone.
  const Seconds seen = moments.back().command - moments.front().command;
  const double scale = seen > Seconds(0) ? cpu_time / seen : 0.0;
  for (auto moment = moments.begin() + 1; moment != moments.end(); ++moment) {
    const ShareMoment& before = *(moment - 1);
    const auto energy = shared_energy(instruments.window(), domains, before.at, moment->at);
    if (!energy) continue;
    ShareSpan span{.wall = moment->at - before.at,
                   .energy = *energy->energy,
                   .command = (moment->command - before.command) * scale,
                   .busy = std::max(moment->busy - before.busy, Seconds(0))};
    if (seen <= Seconds(0)) span.command = cpu_time / static_cast<double>(moments.size() - 1);
    span.busy = std::max(span.busy, span.command);
    spans.push_back(span);
  }
  return spans;
}

/// The idle power that holds for these domains, which are sorted.
std::optional<IdleRange> idle_of(EnergyShare& share, const System& system) {
  const MachineIdentity machine = identity_of(system);
  KeptBaseline kept = read_baseline(machine.host);
  share.idle_unknown = std::move(kept.unknown);
  if (!kept.baseline) return std::nullopt;
  share.idle_unknown =
      why_not_usable(*kept.baseline, machine, share.covers, to_unix(machine_clock().now()));
  if (!share.idle_unknown.empty()) return std::nullopt;
  share.idle_basis = baseline_text(*kept.baseline);
  return kept.baseline->power();
}

/// Fills the balance of packages and DRAM.
void fill_balance(EnergyShare& share, const Report& report, const Instruments& instruments,
                  const System& system) {
  EnergySum measured(report.wall);
  std::set<std::string> domains;
  for (const DomainFigure& domain : report.energy.domains) {
    if (!is_shared(domain.domain) || !domain.figure.energy) continue;
    measured.add(domain.figure.measured());
    domains.insert(domain.domain.name());
  }
  if (domains.empty()) return;
  const auto cpu_time = cpu_time_of(report.usage);
  const std::vector<ShareMoment>& moments = instruments.share_moments();
  if (!cpu_time || moments.size() < 2) {
    share.unknown = cpu_time ? "the CPU time of the whole machine is unknown"
                             : "the CPU time of the command is unknown";
    return;
  }
  share.covers.assign(domains.begin(), domains.end());
  const std::vector<ShareSpan> spans = spans_of(instruments, share.covers, *cpu_time);
  if (spans.empty()) {
    share.unknown =
        why_not_shared(instruments.window(), share.covers, moments.front().at, moments.back().at);
    share.covers.clear();
    return;
  }
  const MeasuredEnergy sum = measured.result();
  share.balance = balance_of(spans, sum.energy.value_or(Joules(0.0)), idle_of(share, system));
  share.uncertainty = with_two_digits(sum.uncertainty);
  share.flags = sum.flags;
  if (!share.balance->is_below_idle) return;
  share.idle_unknown = below_idle_text(share.idle_basis);
  share.idle_basis.clear();
}

/// The lowest mean power of a GPU between two moments.
std::optional<Watts> lowest_power(const Instruments& instruments, const Domain& gpu) {
  std::optional<Watts> lowest;
  const std::vector<ShareMoment>& moments = instruments.share_moments();
  for (std::size_t i = 1; i < moments.size(); ++i) {
    const TimePoint from = moments[i - 1].at;
    const TimePoint to = moments[i].at;
    const auto energy = shared_energy(instruments.window(), {gpu.name()}, from, to);
    if (!energy) continue;
    const Watts mean = *energy->energy / (to - from);
    lowest = std::min(lowest.value_or(mean), mean);
  }
  return lowest;
}

void fill_gpu_shares(EnergyShare& share, const Report& report, const Instruments& instruments) {
  if (!report.host.gpus) return;
  for (const GpuUsage& usage : *report.host.gpus) {
    const auto domain =
        std::ranges::find(report.energy.domains, usage.domain, &DomainFigure::domain);
    if (domain == report.energy.domains.end() || !domain->figure.energy) continue;
    GpuPower power{.wall = report.wall};
    if (usage.used_by_others == true) power.lowest = lowest_power(instruments, usage.domain);
    share.gpus.push_back(gpu_share(usage, domain->figure.measured(), power));
  }
}

}  // namespace

void fill_estimate(Report& report, const EnergyEstimator& estimator) {
  const std::vector<std::string>& covers = report.energy.total.covers;
  if (!report.energy.left_out.empty() || std::ranges::count(covers, "cpu") > 0) return;
  report.estimate = estimator.estimate(cpu_time_of(report.usage));
}

void fill_share(Report& report, const Instruments& instruments, const System& system) {
  EnergyShare share;
  fill_balance(share, report, instruments, system);
  fill_gpu_shares(share, report, instruments);
  if (share.balance || !share.unknown.empty() || !share.gpus.empty()) {
    report.share = std::move(share);
  }
}

}  // namespace wattle::app
