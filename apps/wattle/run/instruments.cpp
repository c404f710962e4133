#include "run/instruments.hpp"

#include <unistd.h>

#include <algorithm>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "output/output.hpp"
#include "report/report.hpp"
#include "report/report_fields.hpp"
#include "sampling/energy_sum.hpp"
#include "wattle/clock.hpp"

namespace wattle::app {
namespace {

using std::chrono::nanoseconds;
constexpr std::size_t kSparklineWidth = 48;

UsageObservationOptions observed(InstrumentOptions& options) {
  constexpr nanoseconds kNewsOfGpus = std::chrono::milliseconds(90);
  constexpr nanoseconds kUsagePeriod = std::chrono::seconds(1);
  // The command's processes are not those of the machine that is measured: of the real /proc.
  UsageObservationOptions observed{
      .system = options.system, .root = options.command, .processes = System{}};
  observed.tree.adopter = ::getpid();
  observed.tree.strangers = std::move(options.strangers);
  observed.tree.is_launcher = true;
  observed.readings = GpuMonitor::sampling(options.interval);
  observed.readings.keeps_going = true;
  observed.gpu_period = kNewsOfGpus;
  observed.gpus = std::move(options.gpus);
  observed.units = std::move(options.units);
  observed.files = std::move(options.files);
  observed.usage_period = kUsagePeriod;
  observed.is_of_command = true;
  return observed;
}

/// JSON `wattle.mark/1` on one line: the energy of the last `time`, since a mark or since the
/// start.
std::string mark_reply(bool since_mark, Seconds time, const std::vector<DomainFigure>& domains) {
  const Total total = total_of(domains, {});
  nlohmann::ordered_json json = {{"schema", "wattle.mark/1"},
                                 {"since", since_mark ? "mark" : "start"},
                                 {"time_s", whole_nanoseconds(time)}};
  add_fields(json, total, std::tuple_cat(kTotalEnergy, kTotalUnknown));
  json["domains"] = list_of(domains, kPartDomainItems);
  return dumped(json);
}

/// The energy of the domains that make up the total in the last interval that ended, with its ±.
MeasuredEnergy interval_energy(const MeasuredWindow& window) {
  EnergySum sum(Seconds(0));
  for (const Domain& domain : window.readings().domains()) {
    if (!counts_in_total(domain.kind())) continue;
    if (const auto energy = window.interval_energy(domain)) sum.add(energy->measured());
  }
  return sum.result();
}

}  // namespace

Instruments::Instruments(std::vector<std::unique_ptr<Sensor>> sensors, InstrumentOptions options)
    : clock_(machine_clock()),
      observation_(std::move(sensors), clock_, observed(options)),
      profile_(kSparklineWidth),
      series_(std::move(options.series)),
      unit_rows_(std::move(options.unit_rows)),
      on_unit_(std::move(options.on_unit)),
      status_period_(options.status) {
  observation_.open();
}

TimePoint Instruments::begin() {
  observation_.begin();
  if (const auto moment = share_moment(observation_.read_at())) share_moments_.add(*moment);
  if (status_period_ > nanoseconds(0)) status_.emplace(status_period_, observation_.began());
  return observation_.began();
}

void Instruments::read(bool ends_interval) {
  observation_.read(ends_interval);
  const TimePoint now = observation_.read_at();
  if (work_units_) divide_among_units(now);
  sample_phases();
  if (const auto moment = share_moment(now)) share_moments_.add(*moment);
  if (!ends_interval) return;
  profile_.add(window().interval_power());
  if (series_) series_->add(window(), observation_.machine(), now, now - observation_.began());
  write_files();
  if (status_) show_status(now);
}

void Instruments::sample_phases() {
  const TreeState* const processes = observation_.processes();
  if (processes == nullptr || processes->combined.is_estimated || !phases_.any_open()) return;
  phases_.sample(processes->combined.pss_bytes);
}

std::string Instruments::take(TimePoint sent, const std::optional<Mark>& mark) {
  if (mark && (mark->kind == MarkKind::unit || mark->kind == MarkKind::unit_end)) {
    take_unit(std::max(sent, observation_.began()), *mark);
    return {};
  }
  const SharedEnd here = read_phase_end(std::max(sent, observation_.began()));
  if (mark && mark->kind == MarkKind::read) return energy_since_mark(*here);
  phases_.take(mark, here);
  if (mark) last_mark_ = here;
  return {};
}

std::vector<detail::SharedDomain> Instruments::shared_domains() const {
  std::vector<detail::SharedDomain> shared;
  const std::vector<Domain> domains = observation_.readings().domains();
  for (std::size_t place = 0; place < domains.size(); ++place) {
    if (!counts_in_total(domains[place].kind())) continue;
    shared.push_back({.place = place,
                      .domain = domains[place],
                      .is_slow = observation_.readings().may_block(place),
                      .is_counter = observation_.readings().counter(place) != nullptr});
  }
  return shared;
}

void Instruments::read_for_units() {
  if (!observation_.is_running() || !work_units_->is_due(clock_.now())) return;
  observation_.read_counters();
  divide_among_units(clock_.now());
}

void Instruments::divide_among_units(TimePoint now) {
  work_units_->read(now);
  if (unit_rows_) unit_rows_->write();
}

void Instruments::take_unit(TimePoint sent, const Mark& mark) {
  if (!work_units_) {
    work_units_ = std::make_unique<detail::MarkedUnits>(
        shared_domains(),
        [this](std::size_t place, TimePoint begin, TimePoint end) {
          return observation_.readings().energy(place, {begin, end, {}, {}}).measured();
        },
        [this](std::size_t place) {
          const std::optional<Boundary>& counter = window().shown().domains[place].counter;
          return counter ? std::optional(counter->at) : std::nullopt;
        },
        observation_.began(),
        [this](const UnitEnergy& unit, const std::string& id) {
          if (unit_rows_) unit_rows_->add(unit, id);
          if (on_unit_) on_unit_(unit, id);
        });
  }
  read_for_units();
  if (!work_units_->take(mark, sent)) phases_.take(std::nullopt, last_phase_end_);
}

std::string Instruments::energy_since_mark(const PhaseEnd& here) const {
  // The counters were read just before the start, and are looked up there.
  PhaseEnd start{.at = observation_.began()};
  start.counters.resize(here.counters.size());
  const PhaseEnd& since = last_mark_ ? *last_mark_ : start;
  return mark_reply(last_mark_ != nullptr, here.at - since.at, energy_between(since, here));
}

/// Counters that answer at once and the processes are read now, but not more often than they
/// change. Lanes are asked to read, and nobody waits for them.
std::shared_ptr<PhaseEnd> Instruments::read_phase_end(TimePoint at) {
  constexpr nanoseconds kNews = std::chrono::milliseconds(1);
  const TimePoint now = clock_.now();
  const bool is_new = !last_phase_end_ || now - last_phase_end_read_ >= kNews;
  auto end = is_new ? std::make_shared<PhaseEnd>() : std::make_shared<PhaseEnd>(*last_phase_end_);
  // Marks come in the order in which they were sent.
  end->at = last_phase_end_ ? std::max(at, last_phase_end_->at) : at;
  if (is_new) {
    if (observation_.is_running()) read(false);
    const std::vector<Capture::Shown>& shown = window().shown().domains;
    for (std::size_t domain = 0; domain < shown.size(); ++domain) {
      end->counters.push_back(observation_.readings().may_block(domain) ? std::nullopt
                                                                        : shown[domain].counter);
    }
    if (const TreeState* const state = observation_.processes()) {
      end->cpu = state->main.cpu + state->descendants.cpu;
      if (!state->combined.is_estimated) end->memory_bytes = state->combined.pss_bytes;
    }
    last_phase_end_read_ = now;
    // Counters of GPUs are renewed less often; between two readings they are looked up.
    constexpr nanoseconds kNewsOfLanes = std::chrono::milliseconds(20);
    if (observation_.is_running() && now - asked_lanes_ >= kNewsOfLanes) {
      end->lanes = observation_.readings().ask_lanes();
      asked_lanes_ = now;
    }
  }
  last_phase_end_ = end;
  return end;
}

/// Absent where no reading is near, so that the counter is looked up between two of them.
std::optional<Boundary> Instruments::counter_at(const PhaseEnd& end, std::size_t domain) const {
  if (const auto& counter = end.counters.at(domain)) return counter;
  constexpr nanoseconds kNear = std::chrono::milliseconds(5);
  const auto shown = observation_.readings().shown(end.lanes, domain);
  return shown && std::chrono::abs(shown->at - end.at) <= kNear ? shown : std::nullopt;
}

std::vector<DomainFigure> Instruments::energy_between(const PhaseEnd& begin,
                                                      const PhaseEnd& end) const {
  const Readings& readings = observation_.readings();
  std::vector<DomainFigure> energies;
  for (std::size_t d = 0; d < readings.domains().size(); ++d) {
    const EnergyWindow window{begin.at, end.at, counter_at(begin, d), counter_at(end, d)};
    energies.push_back(figure_of(readings.channel(d), readings.energy(d, window)));
  }
  return energies;
}

PhasesReport Instruments::phases() const {
  return phases_.report(
      observation_.began(),
      [this](const PhaseEnd& begin, const PhaseEnd& end) { return energy_between(begin, end); },
      observation_.no_processes());
}

void Instruments::show_status(TimePoint now) {
  const auto line = status_->add(now, window().interval_power(), observation_.processes(),
                                 interval_energy(window()));
  if (line) print_message("run", *line);
}

std::optional<ShareMoment> Instruments::share_moment(TimePoint at) const noexcept {
  const auto busy = observation_.machine().last_busy();
  const TreeState* const state = observation_.processes();
  if (state == nullptr || !busy) return std::nullopt;
  return ShareMoment{.at = at, .command = state->main.cpu + state->descendants.cpu, .busy = *busy};
}

TimePoint Instruments::end() {
  observation_.end_processes();
  const TimePoint ended = observation_.ended();
  sample_phases();
  const auto phase_end = read_phase_end(ended);
  if (const auto moment = share_moment(ended)) share_moments_.end(*moment);
  observation_.end_devices(ended + kDriverPatience);
  for (std::size_t domain = 0; domain < phase_end->counters.size(); ++domain) {
    if (!observation_.readings().may_block(domain)) continue;
    phase_end->counters[domain] = window().shown().domains[domain].counter;
  }
  phases_.end(phase_end);
  if (work_units_) units_report_ = work_units_->end(ended);
  if (unit_rows_) unit_rows_->write();
  if (series_) {
    observation_.window().end_rest(ended);
    series_->add(window(), observation_.machine(), ended, ended - observation_.began());
  }
  write_files();
  observation_.end_files();
  return ended;
}

/// Without memory for a row there is none, but the measurement goes on.
void Instruments::write_files() {
  try {
    observation_.write_files();
  } catch (const std::bad_alloc&) {
    ++lost_rows_;
  }
}

std::string Instruments::files_failure() const {
  const bool has_rows = observation_.has_rows();
  if (has_rows && observation_.processes() == nullptr) {
    return "the tracking file has no rows: " + observation_.no_processes();
  }
  if (has_rows && lost_rows_ > 0) {
    return "the tracking file lacks rows: there was no memory for them";
  }
  const auto failure = observation_.failure();
  return failure ? failure->what() : std::string();
}

nanoseconds Instruments::longest_period() const noexcept {
  constexpr nanoseconds kListsCome = std::chrono::seconds(1);
  const nanoseconds keeper = observation_.readings().keeper_period();
  return observation_.readings().devices().empty() ? keeper : std::min(keeper, kListsCome);
}

}  // namespace wattle::app
