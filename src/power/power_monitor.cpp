#include "wattle/power_monitor.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "power/power_monitor_impl.hpp"
#include "sampling/counters/fed_counter.hpp"
#include "sampling/energy_sum.hpp"
#include "sampling/integrate.hpp"
#include "sensors/gpu_selection.hpp"
#include "sensors/providers.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using std::chrono::nanoseconds;

/// The GPU's history of `domain`, or its default one.
struct ChosenHistory {
  const History* history = nullptr;  ///< null where there is none
  PowerDomain domain{};
};

ChosenHistory choose_history(const MonitoredGpu& gpu, std::optional<PowerDomain> domain) noexcept {
  const std::optional<PowerDomain> chosen = domain ? domain : gpu.default_domain();
  if (!chosen) return {};
  return {.history = gpu.history(*chosen), .domain = *chosen};
}

PowerSample sample_of(std::uint32_t gpu, const ChosenHistory& chosen,
                      const StoredReading& reading) {
  PowerSample sample{
      .timestamp = reading.first_seen,
      .gpu_index = gpu,
      .power = Watts(chosen.history->channel().scale() * static_cast<double>(reading.raw)),
      .domain = chosen.domain,
      .last_confirmed = reading.last_confirmed};
  if (reading.raw == 0) sample.flags.set(Flag::zero);
  return sample;
}

/// The energy of the kept samples: the rest is unknown.
EnergyFigure gauged(const History& history, const PowerWindow& window,
                    std::optional<TimePoint> kept_since) {
  const TimePoint start = std::clamp(kept_since.value_or(window.start), window.start, window.end);
  EnergyFigure energy = gauge_energy(history, start, window.end);
  const bool is_kept = !kept_since || *kept_since <= window.start;
  if (window.start == window.end && is_kept && history.held(window.start)) set_zero_length(energy);
  if (start > window.start) {
    energy.unknown += start - window.start;
    energy.flags.set(Flag::gap);
  }
  return energy;
}

EnergyFigure figure_of_counter(const History& history, const PowerWindow& window) {
  EnergyFigure energy = counter_energy(history, {.begin = window.start, .end = window.end});
  if (window.start == window.end && history.at(window.start)) set_zero_length(energy);
  return energy;
}

std::optional<StoredReading> find(const History& history, TimePoint time, Lookup lookup) {
  if (lookup == Lookup::held) return history.held(time);
  const auto [before, after] = history.values().at(time);
  if (!before || !after) return before ? before : after;
  return after->first_seen - time < time - before->first_seen ? after : before;
}

}  // namespace

PowerMonitor PowerMonitorMaker::make(Survey found, const TimeSource& clock,
                                     const PowerMonitorOptions& options, ReadBy reader) {
  const PowerMonitorOptions valid_options = checked(options);
  const Selection selection = select(found, valid_options);
  return PowerMonitor(
      std::make_unique<PowerMonitor::Impl>(selection, clock, valid_options, reader));
}

void PowerMonitorMaker::read(PowerMonitor& monitor) noexcept { monitor.impl_->read_by_caller(); }

Domain PowerMonitorMaker::domain_of(const PowerMonitor& monitor, std::uint32_t gpu) {
  return monitor.impl_->gpu(gpu).device;
}

void PowerMonitorMaker::report_faults(PowerMonitor& monitor) { monitor.impl_->report_faults(); }

PowerMonitor::PowerMonitor(const PowerMonitorOptions& options) {
  const PowerMonitorOptions valid_options = checked(options);
  Survey found = survey(valid_options.system, machine_clock(),
                        kinds_to_find(kProcessorAndGpuKinds, valid_options.gpus));
  const Selection selection = select(found, valid_options);
  log_unmonitored(selection, found.refused, valid_options);
  impl_ = std::make_unique<Impl>(selection, machine_clock(), valid_options, ReadBy::lanes);
}

PowerMonitor::PowerMonitor(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

PowerMonitor::~PowerMonitor() { impl_->stop(); }

void PowerMonitor::stop() noexcept { impl_->stop(); }

const std::vector<Refusal>& PowerMonitor::missing() const noexcept { return impl_->missing(); }

const std::vector<std::uint32_t>& PowerMonitor::gpu_indices() const noexcept {
  return impl_->gpu_indices();
}

nanoseconds PowerMonitor::update_period() const noexcept { return impl_->period(); }

std::vector<PowerDomain> PowerMonitor::supported_domains(std::uint32_t gpu) const {
  const MonitoredGpu& found = impl_->gpu(gpu);
  std::vector<PowerDomain> domains;
  std::ranges::copy_if(kPowerDomains, std::back_inserter(domains),
                       [&](PowerDomain domain) { return found.history(domain) != nullptr; });
  return domains;
}

std::optional<PowerDomain> PowerMonitor::default_domain(std::uint32_t gpu) const {
  return impl_->gpu(gpu).default_domain();
}

std::size_t PowerMonitor::memory_bytes() const noexcept { return impl_->memory_bytes(); }

PowerMonitor::Timelines PowerMonitor::Impl::timelines(PowerDomain domain,
                                                      std::optional<std::uint32_t> only,
                                                      const PowerWindow& window) const {
  Timelines timelines;
  for (const MonitoredGpu& gpu : gpus_) {
    const ChosenHistory chosen{.history = gpu.history(domain), .domain = domain};
    if (chosen.history == nullptr || (only && *only != gpu.index)) continue;
    const TimePoint start =
        std::max(kept_since(*chosen.history).value_or(window.start), window.start);
    std::vector<PowerSample>& samples = timelines[gpu.index];
    chosen.history->values().for_each(start, window.end, [&](const StoredReading& reading) {
      // Asked for between two points of the grid, the earlier one is outside.
      if (reading.first_seen >= start) samples.push_back(sample_of(gpu.index, chosen, reading));
    });
  }
  return timelines;
}

PowerMonitor::Timelines PowerMonitor::timeline(PowerDomain domain, std::optional<std::uint32_t> gpu,
                                               std::optional<TimePoint> start,
                                               std::optional<TimePoint> end) const {
  return impl_->timelines(domain, gpu, PowerWindow::of(start, end));
}

PowerMonitor::Timelines PowerMonitor::timeline(PowerDomain domain, std::optional<std::uint32_t> gpu,
                                               double start_unix_s,
                                               std::optional<double> end_unix_s) const {
  if (!end_unix_s) return timeline(domain, gpu, from_unix(start_unix_s), std::nullopt);
  return impl_->timelines(domain, gpu, PowerWindow::of_unix_times(start_unix_s, *end_unix_s));
}

std::map<PowerDomain, PowerMonitor::Timelines> PowerMonitor::Impl::all_timelines(
    std::optional<std::uint32_t> only, const PowerWindow& window) const {
  std::map<PowerDomain, Timelines> all;
  for (const PowerDomain domain : kPowerDomains) {
    Timelines of_domain = timelines(domain, only, window);
    if (!of_domain.empty()) all.emplace(domain, std::move(of_domain));
  }
  return all;
}

std::map<PowerDomain, PowerMonitor::Timelines> PowerMonitor::all_timelines(
    std::optional<std::uint32_t> gpu, std::optional<TimePoint> start,
    std::optional<TimePoint> end) const {
  return impl_->all_timelines(gpu, PowerWindow::of(start, end));
}

std::map<PowerDomain, PowerMonitor::Timelines> PowerMonitor::all_timelines(
    std::optional<std::uint32_t> gpu, double start_unix_s, double end_unix_s) const {
  return impl_->all_timelines(gpu, PowerWindow::of_unix_times(start_unix_s, end_unix_s));
}

EnergyFigure PowerMonitor::Impl::energy_of(const MonitoredGpu& gpu, const PowerWindow& window,
                                           std::optional<PowerDomain> only) const {
  const std::optional<PowerDomain> usual = gpu.default_domain();
  const bool has_own = usual && !is_of_module(*usual);
  std::vector<EnergyFigure> figures;
  if (gpu.counter != nullptr && !only) figures.push_back(figure_of_counter(*gpu.counter, window));
  for (const PowerDomain domain : kPowerDomains) {
    const History* const history = gpu.history(domain);
    const bool is_usual =
        domain != PowerDomain::memory_average && !(has_own && is_of_module(domain));
    const bool is_asked = only ? *only == domain : is_usual;
    if (history == nullptr || !is_asked) continue;
    figures.push_back(gauged(*history, window, kept_since(*history)));
    if (only || is_of_module(domain)) figures.back().quantity = to_string(domain);
    if (gpu.counter == nullptr || only) continue;
    add_feed(figures.front(), *gpu.counter, *history, figures.back(), window.end);
  }
  if (window.start == window.end) {  // nothing can be compared in no time
    const auto known =
        std::ranges::find_if(figures, &std::optional<Joules>::has_value, &EnergyFigure::energy);
    if (known != figures.end()) return *known;
  }
  if (!figures.empty()) return best_energy(std::move(figures));
  EnergyFigure nothing{.unknown = window.end - window.start, .method = Method::integrated};
  nothing.flags.set(Flag::gap);
  return nothing;
}

std::map<std::uint32_t, BestEnergy> PowerMonitor::Impl::energy(
    const PowerWindow& window, std::optional<PowerDomain> domain) const {
  require_energy(domain);
  catch_up(window, true);
  std::map<std::uint32_t, BestEnergy> energies;
  for (const MonitoredGpu& gpu : gpus_) {
    BestEnergy energy = energy_of(gpu, window, domain).best();
    energy.flags |= window.flags;
    energies.emplace(gpu.index, std::move(energy));
  }
  return energies;
}

std::map<std::uint32_t, BestEnergy> PowerMonitor::energy(TimePoint start, TimePoint end,
                                                         std::optional<PowerDomain> domain) const {
  return impl_->energy(PowerWindow::of(start, end), domain);
}

std::map<std::uint32_t, BestEnergy> PowerMonitor::energy(double start_unix_s, double end_unix_s,
                                                         std::optional<PowerDomain> domain) const {
  return impl_->energy(PowerWindow::of_unix(start_unix_s, end_unix_s), domain);
}

namespace {

MeasuredEnergy total_of(const PowerMonitor& monitor,
                        const std::map<std::uint32_t, BestEnergy>& gpus,
                        const std::map<Domain, MeasuredEnergy>& cpus, Seconds window) {
  EnergySum sum(window);
  for (const auto& [domain, energy] : cpus) {
    if (counts_in_total(domain.kind())) sum.add(energy);
  }
  for (const auto& [gpu, energy] : gpus) {
    const auto usual = monitor.default_domain(gpu);
    const bool has_own = monitor.has_counter(gpu) || (usual && !is_of_module(*usual));
    if (has_own || cpus.empty()) sum.add(energy);
  }
  return sum.result();
}

}  // namespace

MeasuredEnergy PowerMonitor::total_energy(TimePoint start, TimePoint end) const {
  // In doubles: the clock cannot count all of time.
  const Seconds window = Seconds(end.time_since_epoch()) - Seconds(start.time_since_epoch());
  return total_of(*this, energy(start, end), cpu_energy(start, end), window);
}

MeasuredEnergy PowerMonitor::total_energy(double start_unix_s, double end_unix_s) const {
  return total_of(*this, energy(start_unix_s, end_unix_s), cpu_energy(start_unix_s, end_unix_s),
                  Seconds(end_unix_s - start_unix_s));
}

bool PowerMonitor::has_counter(std::uint32_t gpu) const {
  return impl_->gpu(gpu).counter != nullptr;
}

bool PowerMonitor::read_now(nanoseconds patience) const { return impl_->read_now(patience); }

PowerMonitor::Powers PowerMonitor::power(std::optional<PowerDomain> domain) const {
  // The nearest to the end of all time is the newest.
  return power_at(TimePoint::max(), Lookup::nearest, domain);
}

PowerMonitor::Powers PowerMonitor::power_at(TimePoint time, Lookup lookup,
                                            std::optional<PowerDomain> domain) const {
  impl_->require_power(domain);
  Powers powers;
  for (const MonitoredGpu& gpu : impl_->gpus()) {
    std::optional<PowerSample>& power = powers[gpu.index];
    const ChosenHistory chosen = choose_history(gpu, domain);
    if (chosen.history == nullptr) continue;
    const std::optional<TimePoint> kept_since = impl_->kept_since(*chosen.history);
    const bool is_forgotten = kept_since && time < *kept_since;
    if (is_forgotten && lookup == Lookup::held) continue;
    const auto found = find(*chosen.history, is_forgotten ? *kept_since : time, lookup);
    if (found) power = sample_of(gpu.index, chosen, *found);
  }
  return powers;
}

PowerMonitor::Powers PowerMonitor::power_at(double unix_s, Lookup lookup,
                                            std::optional<PowerDomain> domain) const {
  if (std::isnan(unix_s)) {
    throw InvalidArgument("cannot report the power at this time: it is not a number");
  }
  const TimePoint time = from_unix(unix_s);
  const bool has_room = time < TimePoint::max() - kUnixRounding;
  return power_at(has_room ? time + kUnixRounding : time, lookup, domain);
}

}  // namespace wattle
