#include "run/measured_run.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "cli/shared_options.hpp"
#include "cli/waiting.hpp"
#include "run/mark_socket.hpp"
#include "run/run_estimate.hpp"
#include "run/run_report.hpp"
#include "sensors/kept_updates.hpp"
#include "sensors/refusals.hpp"
#include "usage/gpu/gpu_brand.hpp"
#include "wattle/estimate.hpp"

namespace wattle::app {
namespace {

/// Those of one brand, of the chosen ones; all of them are in the host's list.
ObservedGpus observed_gpus(const Survey& chosen) {
  const std::set<Domain> on_machine = gpus_found(chosen);  // the refusals name those left out
  std::set<Domain> gpus = on_machine;
  for (const Domain& gpu : chosen.left_out) gpus.erase(gpu);
  ObservedGpus groups{.members = gpus_of_brand(gpus, chosen.refused, {})};
  const auto alike = groups.members.empty()
                         ? std::set<Domain>()
                         : gpus_like(*groups.members.begin(), on_machine, chosen.refused);
  groups.on_machine = static_cast<unsigned>(alike.size());
  return groups;
}

/// Reads what the command has written, so that it never waits for a reader.
void drain(int fd) noexcept {
  constexpr std::size_t kChunk = std::size_t{64} << 10U;
  std::array<char, kChunk> chunk;  // NOLINT(cppcoreguidelines-pro-type-member-init): written first
  while (::read(fd, chunk.data(), chunk.size()) > 0) {
  }
}

/// At most `most` of the marks that have come.
void take_marks(MarkSocket& marks, Instruments& instruments, std::size_t most) {
  marks.receive(
      [&](TimePoint sent, const std::optional<Mark>& mark) { return instruments.take(sent, mark); },
      most);
}

/// Waits for the command's end, reading at each tick and at each mark.
void watch(const RunParts& run, Ticker& ticker, MarkSocket& marks, Instruments& instruments) {
  // A command that marks without end must not keep the rest from being done.
  constexpr std::size_t kAtOnce = 64;
  // A negative descriptor is never ready.
  std::array<pollfd, 4> waited = {pollfd{run.supervisor.fd(), POLLIN, 0},
                                  pollfd{ticker.fd(), POLLIN, 0}, pollfd{run.drained, POLLIN, 0},
                                  pollfd{marks.fd(), POLLIN, 0}};
  for (;;) {
    patient_poll(waited, instruments.has_units() ? Instruments::kUnitStep.count() : -1);
    if (waited[3].revents != 0) take_marks(marks, instruments, kAtOnce);
    if (waited[0].revents != 0 && run.supervisor.handle()) return;
    if (waited[1].revents != 0) instruments.read(ticker.ends_interval());
    if (waited[2].revents != 0) drain(run.drained);
    if (instruments.has_units()) instruments.read_for_units();
  }
}

}  // namespace

FoundSensors find_sensors(const RunOptions& options, Report& report) {
  const std::string& left_out = report.energy.left_out;
  if (!left_out.empty()) return {.sensors = {}, .gpus = {.unknown = left_out}};
  Survey found =
      with_kept_updates(survey_gpus(options.system, DomainKinds::all(), parse_gpus(options.gpus)));
  ObservedGpus gpus = observed_gpus(found);
  (void)take_absent(found.refused);
  const bool are_known = knows_all_gpus(found.refused);
  if (!are_known) gpus.on_machine.reset();
  if (!are_known && !names_gpus(found)) gpus.unknown = "no GPU can be read: see refused";
  if (gpus.unknown.empty()) report.host.gpus.emplace();
  report.refused = std::move(found.refused);
  return {.sensors = std::move(found.sensors), .gpus = std::move(gpus)};
}

MeasuredRun measure_run(RunParts parts, FoundSensors found, std::set<pid_t> strangers,
                        Report& report) {
  // From here on there may be threads, without the privileges and the signals.
  const RunOptions& options = parts.options;
  std::optional<Instruments> own;
  Instruments& instruments =
      (parts.instruments != nullptr ? *parts.instruments : own)
          .emplace(std::move(found.sensors),
                   InstrumentOptions{.system = options.system,
                                     .interval = options.interval,
                                     .gpus = std::move(found.gpus),
                                     .units = {.ram = options.ram_unit,
                                               .gpu_ram = options.gpu_ram_unit,
                                               .time = options.time_unit},
                                     .command = parts.launcher.pid(),
                                     .strangers = std::move(strangers),
                                     .series = std::move(parts.series),
                                     .unit_rows = std::move(parts.unit_rows),
                                     .on_unit = std::move(parts.on_unit),
                                     .files = std::move(parts.files),
                                     .status = options.status});
  std::ranges::move(instruments.take_left_out(), std::back_inserter(report.refused));
  std::optional<EnergyEstimator> estimator;
  if (options.estimate) estimator.emplace(EstimatorOptions{.system = options.system});
  const TimePoint begin = instruments.begin();
  if (estimator) estimator->start();
  Ticker ticker(begin, options.interval, instruments.longest_period());
  MarkSocket marks;
  report.phases.unavailable = marks.failure();
  parts.launcher.release(marks.path());
  MeasuredRun run{.failure = parts.launcher.wait_for_exec(), .lost = {}};
  if (!run.failure) watch(parts, ticker, marks, instruments);
  constexpr std::size_t kMostQueued = 1000;
  take_marks(marks, instruments, kMostQueued);
  const TimePoint end = instruments.end();
  marks.close();
  if (estimator) estimator->stop();
  const CollectedCommand collected = parts.supervisor.collect(options.system);

  fill_report(report,
              {.begin = begin,
               .end = end,
               .late = ticker.late(),
               .launcher_rss_bytes = parts.launcher.own_peak_rss_bytes(),
               .wants_course = parts.keeps_power},
              instruments, collected, parts.task_clock);
  if (estimator) fill_estimate(report, *estimator);
  fill_share(report, instruments, options.system);
  for (std::string lost : {instruments.series_failure(), instruments.unit_rows_failure(),
                           instruments.files_failure()}) {
    if (!lost.empty()) run.lost.push_back(std::move(lost));
  }
  return run;
}

}  // namespace wattle::app
