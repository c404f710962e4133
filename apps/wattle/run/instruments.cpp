#include "run/instruments.hpp"

#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/clock.hpp"
#include "output/output.hpp"
#include "run/mark_reply.hpp"
#include "usage/files/usage_units.hpp"
#include "usage/gpu/gpu_groups.hpp"
#include "usage/usage_groups.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

using std::chrono::nanoseconds;
constexpr std::size_t kSparklineWidth = 48;

ReadingsOptions sampling(nanoseconds interval) {
  ReadingsOptions options = GpuMonitor::sampling(interval);
  options.keeps_going = true;
  return options;
}

SummedGpus choice_of(const Readings& readings, const std::set<Domain>& summed) {
  SummedGpus choice;
  for (const Readings::Device& device : readings.devices()) {
    choice.included.push_back(summed.contains(device.domain));
  }
  choice.counted = choice.included;
  return choice;
}

}  // namespace

Instruments::Instruments(std::vector<std::unique_ptr<Sensor>> sensors, InstrumentOptions options)
    : clock_(machine_clock()),
      readings_(std::move(sensors), clock_, sampling(options.interval)),
      window_(readings_),
      machine_(options.system),
      gpus_of_groups_(std::move(options.gpus)),
      gpus_(readings_, choice_of(readings_, gpus_of_groups_.summed)),
      profile_(kSparklineWidth),
      command_(options.command),
      strangers_(std::move(options.strangers)),
      series_(std::move(options.series)),
      unit_rows_(std::move(options.unit_rows)),
      on_unit_(std::move(options.on_unit)),
      files_(std::move(options.files)),
      units_(std::move(options.units)),
      status_period_(options.status) {
  readings_.read();  // the power before the begin, if that is not long from now
}

TimePoint Instruments::begin() {
  (void)window_.read_lanes(clock_.now() + kDriverPatience);
  if (readings_.lane_threads() > 0) readings_.read();  // the lanes took their time
  looked_at_gpus_ = clock_.now();  // what they show now is from before the command
  follow_command();
  if (files_) begin_files();
  read(false);  // the counters last, as near to the start as possible
  began_ = ended_ = wrote_usage_ = clock_.now();
  if (status_period_ > nanoseconds(0)) status_.emplace(status_period_, began_);
  has_begun_ = true;
  return began_;
}

void Instruments::follow_command() {
  try {
    // Our own processes, not those of the machine that is measured: of the real /proc.
    tree_.emplace(
        System{}, clock_, command_,
        TreeOptions{
            .adopter = ::getpid(), .strangers = std::move(strangers_), .is_launcher = true});
  } catch (const InvalidArgument& error) {
    no_tree_ = error.what();
    return;
  }
  // What runs now is the launcher, whose memory is not the command's.
  statistics_.begin(tree_->state(), false);
  tree_->forget_peaks();
}

void Instruments::read(bool ends_interval) {
  window_.read(ends_interval);
  const TimePoint now = clock_.now();
  if (work_units_ && has_begun_) divide_among_units(now);
  machine_.sample(now);
  if (has_begun_ && tree_) sample_tree(false);
  if (const auto moment = share_moment(now)) share_moments_.add(*moment);
  ++reads_;
  // More often than that there is nothing new.
  constexpr nanoseconds kNews = std::chrono::milliseconds(90);
  if (now - looked_at_gpus_ >= kNews) {
    look_at_gpus();
    looked_at_gpus_ = now;
  }
  if (!ends_interval) return;
  profile_.add(window_.interval_power());
  if (series_) series_->add(window_, machine_, now, now - began_);
  if (files_ && has_begun_) write_files();
  if (status_) show_status(now);
}

void Instruments::sample_tree(bool all) {
  const TreeState& state = all ? tree_->read_all() : tree_->read();
  statistics_.add(state);
  if (phases_.any_open() && !state.combined.is_estimated) phases_.sample(state.combined.pss_bytes);
}

std::string Instruments::take(TimePoint sent, const std::optional<Mark>& mark) {
  if (mark && (mark->kind == MarkKind::unit || mark->kind == MarkKind::unit_end)) {
    take_unit(std::max(sent, began_), *mark);
    return {};
  }
  const SharedEnd here = read_phase_end(std::max(sent, began_));
  if (mark && mark->kind == MarkKind::read) return energy_since_mark(*here);
  phases_.take(mark, here);
  if (mark) last_mark_ = here;
  return {};
}

std::vector<detail::SharedDomain> Instruments::shared_domains() const {
  std::vector<detail::SharedDomain> shared;
  const std::vector<Domain> domains = readings_.domains();
  for (std::size_t place = 0; place < domains.size(); ++place) {
    if (!counts_in_total(domains[place].kind())) continue;
    shared.push_back({.place = place,
                      .domain = domains[place],
                      .is_slow = readings_.may_block(place),
                      .is_counter = readings_.counter(place) != nullptr});
  }
  return shared;
}

void Instruments::read_for_units() {
  if (!has_begun_ || !work_units_->is_due(clock_.now())) return;
  window_.read(false);
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
          return readings_.energy(place, {begin, end, {}, {}}).measured();
        },
        [this](std::size_t place) {
          const std::optional<Boundary>& counter = window_.shown().domains[place].counter;
          return counter ? std::optional(counter->at) : std::nullopt;
        },
        began_,
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
  PhaseEnd start{.at = began_};
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
    if (has_begun_) read(false);
    const std::vector<Capture::Shown>& shown = window_.shown().domains;
    for (std::size_t domain = 0; domain < shown.size(); ++domain) {
      end->counters.push_back(readings_.may_block(domain) ? std::nullopt : shown[domain].counter);
    }
    if (tree_) {
      const TreeState& state = tree_->state();
      end->cpu = state.main.cpu + state.descendants.cpu;
      if (!state.combined.is_estimated) end->memory_bytes = state.combined.pss_bytes;
    }
    last_phase_end_read_ = now;
    // Counters of GPUs are renewed less often; between two readings they are looked up.
    constexpr nanoseconds kNewsOfLanes = std::chrono::milliseconds(20);
    if (has_begun_ && now - asked_lanes_ >= kNewsOfLanes) {
      end->lanes = readings_.ask_lanes();
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
  const auto shown = readings_.shown(end.lanes, domain);
  return shown && std::chrono::abs(shown->at - end.at) <= kNear ? shown : std::nullopt;
}

std::vector<DomainFigure> Instruments::energy_between(const PhaseEnd& begin,
                                                      const PhaseEnd& end) const {
  std::vector<DomainFigure> energies;
  const std::vector<Domain> domains = readings_.domains();
  for (std::size_t d = 0; d < domains.size(); ++d) {
    const History* const counter = readings_.counter(d);
    const Channel* const channel = counter != nullptr ? &counter->channel() : nullptr;
    energies.push_back({.domain = domains[d],
                        .contained_in = channel != nullptr ? channel->contained_in : std::nullopt,
                        .source = channel != nullptr ? std::string(channel->source) : std::string(),
                        .figure = readings_.energy(
                            d, {begin.at, end.at, counter_at(begin, d), counter_at(end, d)})});
  }
  return energies;
}

PhasesReport Instruments::phases() const {
  return phases_.report(
      began_,
      [this](const PhaseEnd& begin, const PhaseEnd& end) { return energy_between(begin, end); },
      no_tree_);
}

void Instruments::show_status(TimePoint now) {
  const auto line = status_->add(now, window_.interval_power(), tree_ ? &tree_->state() : nullptr);
  if (line) print_message("run", *line);
}

std::optional<ShareMoment> Instruments::share_moment(TimePoint at) const noexcept {
  const auto busy = machine_.last_busy();
  if (!tree_ || !busy) return std::nullopt;
  const TreeState& state = tree_->state();
  return ShareMoment{.at = at, .command = state.main.cpu + state.descendants.cpu, .busy = *busy};
}

void Instruments::look_at_gpus() {
  const auto kinship_of = [&](pid_t pid) {
    return tree_ ? tree_->kinship_of(pid) : Kinship::unknown;
  };
  gpus_.sample(kinship_of, began_);
}

TimePoint Instruments::end() {
  ended_ = clock_.now();
  has_begun_ = false;
  read(false);  // the counters first, as near to the end as possible
  // The command has ended, but was not waited for: its times are still in /proc.
  if (tree_) sample_tree(true);
  const auto phase_end = read_phase_end(ended_);
  statistics_.end();
  if (const auto moment = share_moment(ended_)) share_moments_.end(*moment);
  (void)window_.read_lanes(ended_ + kDriverPatience);
  for (std::size_t domain = 0; domain < phase_end->counters.size(); ++domain) {
    if (!readings_.may_block(domain)) continue;
    phase_end->counters[domain] = window_.shown().domains[domain].counter;
  }
  phases_.end(phase_end);
  if (work_units_) units_report_ = work_units_->end(ended_);
  if (unit_rows_) unit_rows_->write();
  look_at_gpus();
  if (series_) {
    window_.end_rest(ended_);
    series_->add(window_, machine_, ended_, ended_ - began_);
  }
  if (files_) {
    write_files();
    files_->end();
  }
  return ended_;
}

GpusUsage Instruments::gpus() const {
  GpusUsage usage = gpus_.usage(began_, ended_);
  // GPUs that --gpus leaves out do not count here.
  usage.refused = static_cast<unsigned>(gpus_of_groups_.summed.size()) - usage.included;
  return usage;
}

void Instruments::fill_gpus(ResourceUsage& usage) const {
  if (gpus_of_groups_.unknown.empty()) {
    fill_gpu_groups(usage, gpus(), gpus_of_groups_.on_machine);
  } else {
    usage.unknown.push_back({{"max_gpu_ram", "gpu_utilization"}, gpus_of_groups_.unknown});
  }
}

TrackingMachine Instruments::tracked_machine() const {
  const unsigned counted = gpus_.counted();
  // Of all that are to be in the sums, or of none.
  const bool are_all = counted == gpus_of_groups_.summed.size() && gpus_of_groups_.unknown.empty();
  return {.gpu_memory_bytes = are_all ? gpus_.memory_total_bytes() : std::nullopt,
          .gpus = gpus_of_groups_.on_machine,
          .counted_gpus = counted};
}

void Instruments::begin_files() {
  if (tree_) row_begin_ = tree_->state();
  files_->keep(true);
  if (!files_->has_rows()) return;
  machine_.sample(clock_.now());  // its capacity is in the header
  files_->begin_rows(tracking_header(units_, machine_.usage(), tracked_machine()));
}

void Instruments::write_files() {
  if (!tree_) return;
  ++rows_;
  if (has_begun_) ended_ = clock_.now();
  // Without memory for a row there is none, but the measurement goes on.
  try {
    if (files_->has_rows()) write_row();
    if (has_begun_ && files_->has_usage()) write_usage();
  } catch (const std::bad_alloc&) {
    ++lost_rows_;
  }
  row_begin_ = tree_->state();
}

void Instruments::write_row() {
  const GpuMonitor::Now gpus = gpus_.now();
  files_->add_row(
      tracking_row(units_, tracked_machine(), {row_begin_, tree_->state(), machine_, gpus}));
}

void Instruments::write_usage() {
  // To make a line takes longer than to take a sample.
  constexpr nanoseconds kUsagePeriod = std::chrono::seconds(1);
  if (ended_ - wrote_usage_ < kUsagePeriod) return;
  wrote_usage_ = ended_;
  files_->write_usage(usage_so_far(), rows_);
}

ResourceUsage Instruments::usage_so_far() const {
  ResourceUsage usage;
  usage.max_ram.unit = units_.ram;
  usage.max_gpu_ram.unit = units_.gpu_ram;
  usage.compute_time = {.unit = units_.time,
                        .time = Seconds(ended_ - began_).count() / seconds_in(units_.time)};
  fill_machine(usage, machine_.usage());
  fill_gpus(usage);
  statistics_.fill(usage, tree_->pss_gaps(), tree_->peaks());
  fill_tree(usage, *tree_);
  return usage;
}

std::string Instruments::files_failure() const {
  if (!files_) return {};
  if (!tree_ && files_->has_rows()) return "the tracking file has no rows: " + no_tree_;
  if (lost_rows_ > 0 && files_->has_rows()) {
    return "the tracking file lacks rows: there was no memory for them";
  }
  return files_->failure() ? files_->failure()->what() : std::string();
}

void Instruments::fill_processes(ResourceUsage& usage, std::uint64_t main_peak_bytes) const {
  if (!tree_) {
    usage.unknown.push_back(
        {{"max_ram.main", "max_ram.descendants", "max_ram.combined", "cpu_utilization.main",
          "cpu_utilization.descendants", "cpu_utilization.combined", "peak_pss_bytes", "processes",
          "io_read_bytes", "io_written_bytes", "storage_read_bytes", "storage_written_bytes"},
         no_tree_});
    return;
  }
  PeakMemory peaks = tree_->peaks();
  if (tree_->was_alone()) {
    peaks.update(main_peak_bytes, true);
  } else {
    peaks.other_bytes = main_peak_bytes;
  }
  statistics_.fill(usage, tree_->pss_gaps(), peaks);
  usage.processes = tree_->processes_seen();
  fill_mechanisms(usage, *tree_);
  fill_io(usage, *tree_);
}

nanoseconds Instruments::longest_period() const noexcept {
  constexpr nanoseconds kListsCome = std::chrono::seconds(1);
  const nanoseconds keeper = readings_.keeper_period();
  return readings_.devices().empty() ? keeper : std::min(keeper, kListsCome);
}

}  // namespace wattle::app
