// `wattle top --once`: who used the processors, with which part of the energy, and what GPUs spent.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/json/json_write.hpp"
#include "base/text/flags_text.hpp"
#include "base/text/quantity.hpp"
#include "base/text/text_style.hpp"
#include "base/text/unknown.hpp"
#include "cli/privileges.hpp"
#include "cli/waiting.hpp"
#include "estimate/baseline.hpp"
#include "output/output.hpp"
#include "report/estimate_fields.hpp"
#include "report/estimate_words.hpp"
#include "report/share.hpp"
#include "sampling/measured_window.hpp"
#include "sampling/readings.hpp"
#include "sensors/kept_updates.hpp"
#include "sensors/providers.hpp"
#include "top/device_table.hpp"
#include "top/group_rows.hpp"
#include "top/lines.hpp"
#include "top/observer.hpp"
#include "top/top_options.hpp"
#include "wattle/estimate.hpp"

namespace wattle::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kNothingKnown = 2;

/// Who used the processors.
struct CpuUsers {
  std::vector<GroupRow> groups{};  ///< who used most comes first
  GroupRow rest = no_rest();
  Seconds cpu{0};  ///< of everything
};

/// The observation of the whole time.
struct Seen {
  CpuUsers users;
  Seconds wall{0};
  std::vector<std::string> covers{};  ///< domains whose energy was measured
  std::optional<MeasuredEnergy> measured{};
  std::optional<Joules> idle{};
  std::string energy_note{};  ///< why groups have no energy, or what idle is known by
  std::optional<EnergyEstimate> estimate{};
  TopObservation gpus{};  ///< its devices are GPUs alone
};

constexpr DomainKinds kGpuKinds = DomainKinds::of({DomainCategory::gpu});

/// GPUs have their own sensors and their own users: their energy is no part of the groups'.
TopObserver watch_gpus(TopOptions options, Survey found) {
  options.estimate = false;
  return {options, std::move(found), kGpuKinds};
}

std::string gpu_text(const Seen& seen, TextStyle style) {
  constexpr std::size_t kUnlimited = 1000;
  if (style.width == 0) style.width = kUnlimited;
  std::string text;
  for (const std::string& line :
       device_lines(seen.gpus, {}, {}, style.width, seen.gpus.devices.size() + 2, style)) {
    text += line + "\n";
  }
  for (const PrintableText& note : seen.gpus.notes) text += wrapped(note + "\n", style, 2);
  return text.empty() ? text : text + "\n";
}

/// Waits for `length`. False: a signal ended it.
bool wait_for(std::chrono::nanoseconds length, const Fd& end) {
  Ticker ticker(machine_clock().now(), length, length);
  return wait_for_tick(ticker, end);
}

/// Takes the processes. Those that used nothing, or whose use is unknown, are left out.
CpuUsers users_of(TopObservation& seen, TopKey key) {
  std::vector<TopProcess> processes = std::exchange(seen.processes, {});
  std::erase_if(processes, [](const TopProcess& it) { return !(it.cpu > Seconds(0)); });
  GroupTable table = group_rows(
      {.length = seen.length, .processes = std::move(processes), .busy = seen.busy}, key);
  CpuUsers users{.groups = std::move(table.groups)};
  if (!table.others.empty()) users.rest = std::move(table.others.front());
  users.cpu = users.rest.cpu;
  for (GroupRow& group : users.groups) {
    users.cpu += group.cpu;
    if (key == TopKey::process) group.name += fmt::format(" {}", group.pid);
  }
  std::ranges::sort(users.groups, [](const GroupRow& left, const GroupRow& right) {
    return left.cpu != right.cpu ? left.cpu > right.cpu : left.name < right.name;
  });
  return users;
}

/// Energy of the groups: a share of what was measured, else the estimate if it was asked for.
void fill_energy(Seen& seen, const TopOptions& options, const EnergyEstimator& estimator) {
  const auto each = [&](const auto& fill) {
    std::ranges::for_each(seen.users.groups, fill);
    fill(seen.users.rest);
  };
  if (seen.measured) {
    const MachineIdentity machine = identity_of(options.system);
    const KeptBaseline kept = read_baseline(machine.host);
    seen.energy_note = kept.unknown;
    if (!kept.baseline) return;
    seen.energy_note =
        why_not_usable(*kept.baseline, machine, seen.covers, to_unix(machine_clock().now()));
    if (!seen.energy_note.empty()) return;
    const IdleRange idle = kept.baseline->power();
    seen.energy_note = baseline_text(*kept.baseline);
    const Joules measured = *seen.measured->energy;
    if (measured < idle.low * seen.wall) {
      seen.energy_note = below_idle_text(seen.energy_note);
      return;
    }
    const DividedCpus cpus{
        .wall = seen.wall, .measured = measured, .idle = idle, .cpu = seen.users.cpu};
    seen.idle = idle_part(cpus);
    each([&](GroupRow& row) { row.energy = part_of(cpus, row.cpu); });
    return;
  }
  if (!options.estimate) return;
  seen.estimate = estimator.estimate();
  each([&](GroupRow& row) { row.energy = estimator.estimate(row.cpu).own; });
}

std::string row_energy(const GroupRow& group) {
  return group.energy ? range_text(*group.energy) : std::string(kUnknownCell);
}

std::string text_of(const Seen& seen, const TextStyle& style) {
  std::string text =
      fmt::format("{} of CPU time in {}\n", to_text(seen.users.cpu), to_text(seen.wall));
  if (seen.measured) {
    text += with_doubts(
        fmt::format("{} measured ({})", to_text(*seen.measured->energy, seen.measured->uncertainty),
                    fmt::join(seen.covers, ", ")),
        seen.measured->flags);
    if (seen.idle) text += fmt::format("; idle ~{} (~: not measured)", to_text(*seen.idle));
    text += fmt::format("\n  {}\n", seen.energy_note);
  } else if (seen.estimate) {
    text += fmt::format("no energy{} measured: {}\n", seen.gpus.devices.empty() ? "" : " of CPUs",
                        seen.energy_note);
    for (const std::string& line : words_of(*seen.estimate)) text += line + "\n";
  } else {
    text += fmt::format("no energy{}: {}\n", seen.gpus.devices.empty() ? "" : " of CPUs",
                        seen.energy_note);
  }
  TextTable table({Align::right, Align::right, Align::right, Align::left, Align::left}, style, 0);
  table.add({"% of CPU time", "CPU time", "processes", "energy, not measured", "who"}, true);
  const auto add = [&](const GroupRow& group) {
    table.add({fmt::format("{:.1f}", group.share.value_or(0.0)), to_text(group.cpu),
               group.processes > 0 ? std::to_string(group.processes) : "", row_energy(group),
               group.name});
  };
  for (const GroupRow& group : seen.users.groups) add(group);
  add(seen.users.rest);
  return gpu_text(seen, style) + wrapped(text, style, 2) + table.text();
}

Json json_of(const GroupRow& group, const char* kind) {
  Json energy = nullptr;
  if (group.energy) {
    energy = {{"low_j", group.energy->low.si()},
              {"typical_j", group.energy->typical.si()},
              {"high_j", group.energy->high.si()}};
  }
  return {{"name", group.name},
          {"processes", group.processes},
          {"cpu_s", whole_nanoseconds(group.cpu)},
          {"cpu_percent", group.share.value_or(0.0)},
          {kind, std::move(energy)}};
}

std::string to_json(const Seen& seen) {
  const char* const kind = seen.measured ? "share" : "estimate";
  Json groups = Json::array();
  for (const GroupRow& group : seen.users.groups) groups.push_back(json_of(group, kind));
  Json gpus = Json::array();
  for (const TopDevice& gpu : seen.gpus.devices) gpus.push_back(device_json(gpu));
  Json missing = Json::array();
  for (const PrintableText& note : seen.gpus.notes) missing.push_back(note);
  const Json json = {
      {"schema", "wattle.top/1"},
      {"wall_s", whole_nanoseconds(seen.wall)},
      {"cpu_s", whole_nanoseconds(seen.users.cpu)},
      {"energy",
       {{"measured_j", seen.measured ? or_null(seen.measured->energy) : Json(nullptr)},
        {"uncertainty_j",
         seen.measured ? uncertainty_or_null(seen.measured->energy, seen.measured->uncertainty)
                       : Json(nullptr)},
        {"flags", seen.measured ? wattle::json_of(seen.measured->flags) : Json::array()},
        {"covers", seen.covers},
        {"unknown", seen.measured ? Json(nullptr) : text_or_null(seen.energy_note)}}},
      {"idle",
       {{"share", seen.idle ? Json{{"typical_j", seen.idle->si()}} : Json(nullptr)},
        {"basis", seen.idle ? text_or_null(seen.energy_note) : Json(nullptr)},
        {"unknown", seen.idle ? Json(nullptr) : text_or_null(seen.energy_note)}}},
      {"gpus", std::move(gpus)},
      {"gpus_s", whole_nanoseconds(seen.gpus.elapsed)},
      {"missing", std::move(missing)},
      {"estimate", wattle::json_of(seen.estimate)},
      {"groups", std::move(groups)},
      {"rest", json_of(seen.users.rest, kind)}};
  return dumped(json) + "\n";
}

}  // namespace

int top_once(const TopOptions& options) {
  const Fd end = end_signals();
  auto [found, found_gpus] = with_privileges([&] {
    constexpr DomainKinds kCpuKinds = DomainKinds::of({DomainCategory::cpu});
    return std::pair(survey(options.system, machine_clock(), kCpuKinds),
                     survey(options.system, machine_clock(), kGpuKinds));
  });
  found = with_kept_updates(std::move(found));
  found_gpus = with_kept_updates(std::move(found_gpus));
  std::string reason = found.refused.empty() ? "no sensor was found" : found.refused.front().reason;
  Readings readings(std::move(found.sensors), machine_clock(), {.keeps_going = true});
  MeasuredWindow window(readings);
  const std::set<std::string> domains = shared_domains(window);
  EnergyEstimator estimator({.system = options.system});
  TopObserver observer = watch_gpus(options, std::move(found_gpus));
  window.read(true);
  estimator.start();
  const TimePoint begin = machine_clock().now();
  if (!wait_for(options.length, end)) {
    print_message("top", "stopped before the end of its time; nothing is printed");
    return kNothingKnown;
  }
  TopObservation observed = observer.observe();
  window.read(true);
  estimator.stop();
  const TimePoint ended = machine_clock().now();
  if (!observed.busy) {
    print_message("top", "/proc/stat cannot be read, so nothing is known of the CPUs");
    return kNothingKnown;
  }
  Seen seen{.users = users_of(observed, options.key),
            .wall = ended - begin,
            .covers = {domains.begin(), domains.end()},
            .gpus = std::move(observed)};
  if (!domains.empty()) {
    seen.measured = shared_energy(window, seen.covers, begin, ended);
    if (!seen.measured) reason = why_not_shared(window, seen.covers, begin, ended);
  }
  seen.energy_note = options.estimate ? reason : fmt::format("{}; {}", reason, kEstimateHint);
  fill_energy(seen, options, estimator);
  Output::open("-", false)
      .write(options.json ? to_json(seen) : text_of(seen, style_of(STDOUT_FILENO)));
  return 0;
}

}  // namespace wattle::app
