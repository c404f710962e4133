#include "wattle/work_units.hpp"

#include <atomic>
#include <cmath>
#include <exception>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "base/text/trace_context.hpp"
#include "base/worker.hpp"
#include "energy/metered_domains.hpp"
#include "units/units_reader.hpp"
#include "units/work_units_maker.hpp"
#include "wattle/energy_meter.hpp"
#include "wattle/error.hpp"

namespace wattle {

namespace {

/// As long as other classes take to stop.
constexpr std::chrono::nanoseconds kWorkerPatience = std::chrono::milliseconds(100);

std::int64_t checked_weight(double weight) {
  if (const auto steps = detail::weight_steps(weight)) return *steps;
  throw InvalidArgument("cannot start a unit: its weight must be a number from 1e-6 to 1e6");
}

/// The CPU time of the thread of a unit; -1: it has none.
std::int64_t used_ns(const detail::UnitDesk& desk, std::int32_t thread) noexcept {
  return thread != 0 ? desk.threads.used_ns(thread) : -1;
}

EnergyMeterOptions meter_options(const WorkUnitsOptions& options) {
  return {.domains = options.domains,
          .gpus = options.gpus,
          .sources = options.sources,
          .if_unavailable = options.if_unavailable,
          .system = options.system};
}

}  // namespace

WorkUnit& WorkUnit::operator=(WorkUnit&& other) noexcept {
  if (this == &other) return *this;
  end_if_running();
  desk_ = other.desk_;
  id_ = std::exchange(other.id_, 0);
  last_ns_ = other.last_ns_;
  weight_ = other.weight_;
  work_ = other.work_;
  tag_ = other.tag_;
  thread_ = other.thread_;
  by_ = other.by_;
  column_ = other.column_;
  gpu_ = other.gpu_;
  is_running_ = std::exchange(other.is_running_, false);
  return *this;
}

WorkUnit::~WorkUnit() { end_if_running(); }

void WorkUnit::add(double work) noexcept {
  if (is_running_ && work > 0.0 && std::isfinite(work)) work_ += work;
}

void WorkUnit::phase(std::string_view name, double weight) {
  const std::int64_t steps = checked_weight(weight);
  if (!is_running_ || desk_ == nullptr || desk_->events.is_copy()) return;
  const detail::UnitEvent leaves{.weight = weight_,
                                 .used_ns = used_ns(*desk_, thread_),
                                 .slot = detail::slot_of(id_),
                                 .thread = thread_,
                                 .column = column_,
                                 .gpu = gpu_,
                                 .kind = detail::UnitEvent::EventKind::leave};
  const detail::ThreadTime here =
      by_ == UnitRule::cpu_time ? desk_->threads.here() : detail::ThreadTime{};
  thread_ = here.thread;
  weight_ = steps;
  column_ = desk_->tags.column(name, tag_);
  const detail::UnitEvent enters{.weight = weight_,
                                 .used_ns = here.used_ns,
                                 .slot = leaves.slot,
                                 .thread = thread_,
                                 .column = column_,
                                 .gpu = gpu_,
                                 .kind = detail::UnitEvent::EventKind::enter};
  last_ns_ = desk_->events.leave(leaves, last_ns_, &enters);
}

void WorkUnit::end() noexcept {
  if (!std::exchange(is_running_, false)) {
    if (id_ != 0) detail::UnitEvents::count_second_end();
    return;
  }
  // It may be gone from now on.
  detail::UnitDesk* const desk = std::exchange(desk_, nullptr);
  if (desk == nullptr) return;
  (void)desk->events.leave({.weight = weight_,
                            .work = work_,
                            .used_ns = used_ns(*desk, thread_),
                            .slot = detail::slot_of(id_),
                            .thread = thread_,
                            .column = column_,
                            .gpu = gpu_,
                            .kind = detail::UnitEvent::EventKind::end},
                           last_ns_);
}

/// The thread shares the reader: it may hang in a driver when all else ends.
struct WorkUnits::Impl {
  Impl(std::shared_ptr<detail::MeteredDomains> domains, const WorkUnitsOptions& options,
       const TimeSource& clock, const detail::ThreadClock& threads = detail::machine_threads())
      : reader(std::make_shared<detail::UnitsReader>(std::move(domains), options, clock, threads)) {
    (void)reader->read();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (worker) (void)worker->stop(kWorkerPatience);
    const bool is_copy = reader->desk().events.is_copy();
    reader->keep_desk();
    if (is_copy) leak(reader);  // its locks may be taken for ever
  }

  void start(std::chrono::nanoseconds period) {
    const auto read = [own = reader] {
      try {
        (void)own->read();
      } catch (const std::exception& error) {  // no memory: the next time may go better
        log(std::string("cannot read the energy of units of work: ") + error.what());
      }
    };
    worker = std::make_unique<Worker>(Worker::every(period, read),
                                      "a thread to read the energy of units of work with");
  }

  std::shared_ptr<detail::UnitsReader> reader;
  std::unique_ptr<Worker> worker;  ///< null: tests read
  std::atomic<bool> is_stopped = false;
};

WorkUnits::WorkUnits(WorkUnitsOptions options)
    : impl_(std::make_unique<Impl>(detail::MeteredDomains::open(meter_options(options)), options,
                                   machine_clock())) {
  impl_->start(options.period);
}

WorkUnits::WorkUnits(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
WorkUnits::~WorkUnits() = default;
WorkUnits::WorkUnits(WorkUnits&&) noexcept = default;
WorkUnits& WorkUnits::operator=(WorkUnits&&) noexcept = default;

WorkUnits::Impl& WorkUnits::impl() const {
  if (!impl_) throw InvalidArgument("cannot use units of work that were moved");
  return *impl_;
}

WorkUnit WorkUnits::begin(std::string_view tag, double weight) {
  return begin(tag, UnitOptions{.weight = weight});
}

WorkUnit WorkUnits::begin(std::string_view tag, const UnitOptions& options) {
  detail::UnitsReader& reader = *impl().reader;
  WorkUnit unit;
  unit.weight_ = checked_weight(options.weight);
  if (options.gpu) unit.gpu_ = reader.gpu_number(*options.gpu);
  unit.is_running_ = true;
  if (impl_->is_stopped) return unit;
  detail::UnitDesk& desk = reader.desk();
  if (desk.events.is_copy()) return unit;
  unit.tag_ = desk.tags.column(tag);
  unit.column_ = unit.tag_;
  unit.by_ = options.by;
  const detail::ThreadTime here =
      options.by == UnitRule::cpu_time ? desk.threads.here() : detail::ThreadTime{};
  unit.thread_ = here.thread;
  if (const auto started = desk.events.begin(unit.tag_, unit.weight_, unit.gpu_, here)) {
    unit.desk_ = &desk;
    unit.id_ = started->id;
    unit.last_ns_ = started->at_ns;
    if (const auto trace = parse_traceparent(options.traceparent)) {
      desk.traces.keep(unit.id_, *trace);
    }
  }
  return unit;
}

UnitState WorkUnits::state(UnitId unit) const { return impl().reader->state(unit); }

std::optional<UnitEnergy> WorkUnits::result(UnitId unit) const {
  return impl().reader->result(unit);
}

bool WorkUnits::update() { return impl().reader->read(); }

UnitsReport WorkUnits::report() const { return impl().reader->report(); }

std::vector<std::string> WorkUnits::domains() const { return impl().reader->domains(); }

std::vector<Refusal> WorkUnits::missing() const { return impl().reader->missing(); }

void WorkUnits::stop() {
  if (impl().is_stopped.exchange(true)) return;
  if (impl_->worker) (void)impl_->worker->stop(kWorkerPatience);
  (void)impl_->reader->read();
}

WorkUnits detail::WorkUnitsMaker::units(std::shared_ptr<MeteredDomains> domains,
                                        const WorkUnitsOptions& options, const TimeSource& clock,
                                        const ThreadClock& threads) {
  return WorkUnits(std::make_unique<WorkUnits::Impl>(std::move(domains), options, clock, threads));
}

}  // namespace wattle
