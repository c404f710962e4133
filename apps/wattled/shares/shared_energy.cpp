#include "shares/shared_energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "api/public_cpu.hpp"
#include "base/files/file.hpp"
#include "base/text/text.hpp"
#include "base/text/unknown.hpp"
#include "report/share.hpp"
#include "usage/gpu/gpu_division.hpp"
#include "usage/gpu/gpu_monitor.hpp"
#include "usage/process/process_times.hpp"
#include "usage/process/procfs.hpp"
#include "usage/tree/process_tree.hpp"

namespace wattle::daemon {
namespace {

/// A shorter interval says nothing of the idle power.
constexpr Seconds kLeastLength{0.5};

/// The group of a process; absent if it is gone, or not seen from here.
std::optional<CgroupGroup> group_of_process(const System& system, pid_t pid) {
  const std::string path = cgroup_of(system, pid);
  if (path == kUnknown) return std::nullopt;
  if (auto place = group_of_cgroup(path)) return std::move(place->group);
  return CgroupGroup{CgroupKind::cgroup, printable(path)};
}

bool is_mps_server(const System& system, pid_t pid) {
  return read_line((system.procfs / std::to_string(pid) / "comm").string()) == kMpsServer;
}

/// The only pod of those that are there which has the device.
std::optional<CgroupGroup> owner_of(const DeviceInfo* device, const ShareFiles& files) {
  std::optional<CgroupGroup> owner;
  if (device == nullptr) return owner;
  for (const std::string& id : {device->id, device->pci_address}) {
    const auto found = files.kubelet.owners.find(id);
    if (id.empty() || found == files.kubelet.owners.end()) continue;
    for (const std::string& uid : found->second) {
      CgroupGroup pod{CgroupKind::pod, printable(uid)};
      if (!files.groups_us.contains(pod) || owner == pod) continue;
      if (owner) return std::nullopt;
      owner = std::move(pod);
    }
  }
  return owner;
}

/// By number; without those that are gone, or not seen from here.
std::map<pid_t, GpuProcess> processes_of(const System& system, const std::vector<GpuUser>& users) {
  const Procfs procfs(system, 0);
  std::map<pid_t, GpuProcess> processes;
  for (const GpuUser& user : users) {
    auto stat = procfs.read_stat(user.pid);
    if (!stat) continue;
    processes.emplace(user.pid, GpuProcess{user.pid, stat->start_time, std::move(stat->name)});
  }
  return processes;
}

/// The energy of a GPU among those that `group_of` has for the numbers of its users.
template <class Group, class GroupOf>
EnergyAmong<Group> divide_among(std::uint64_t uj, const GpuLoad& load, bool sees_machine_pids,
                                bool has_mps, GroupOf group_of,
                                const std::optional<Group>& owner = std::nullopt) {
  std::vector<Group> groups;
  const auto place_of = [&](const GpuUser& user) -> std::optional<std::size_t> {
    auto group = group_of(user.pid);
    if (!group) return std::nullopt;
    const auto found = std::ranges::find(groups, *group);
    if (found != groups.end()) return static_cast<std::size_t>(found - groups.begin());
    groups.push_back(std::move(*group));
    return groups.size() - 1;
  };
  const GpuParts parts =
      sees_machine_pids
          ? divide_gpu(load, place_of, has_mps)
          : GpuParts{.unknown = "this is a container with process numbers of its own"};
  return divide_gpu_energy<Group>(uj, parts, groups, owner);
}

/// GPUs that have just shown a value: one that hangs is not waited for again.
Ids answering(const Gpus& gpus, const std::vector<DomainMetrics>& domains) {
  Ids ids;
  std::ranges::copy_if(gpus.ids(), std::back_inserter(ids), [&](wire::DeviceId id) {
    const std::string name = gpu_domain_of(gpus.sensor(id)).name();
    const auto found = std::ranges::find(domains, name, &DomainMetrics::domain);
    return found == domains.end() || found->up;
  });
  return ids;
}

/// Longer than the interval: it was unknown in the last one.
bool lacks_time(const EnergyStep& step, Seconds length) { return step.length > length * 1.5; }

}  // namespace

SharedEnergy::SharedEnergy(Scrape& scrape, Gpus& gpus, Cpus& cpus, Loop& loop,
                           SharesOptions options)
    : scrape_(scrape),
      gpus_(gpus),
      loop_(loop),
      options_(std::move(options)),
      view_(cpus, loop, is_public() ? public_quantum_uj(options_.public_cpu_period) : 0,
            options_.public_cpu_period),
      reader_(std::make_shared<ShareFileReader>(options_.places)),
      take_(std::make_shared<std::function<void(std::shared_ptr<const ShareFiles>)>>(
          [this](std::shared_ptr<const ShareFiles> files) { gather(std::move(files)); })),
      since_(loop.now()),
      ledger_(options_.most_rows),
      sees_machine_pids_(!is_own_procfs(options_.places.system) || sees_machine_pids()),
      sees_all_files_(sees_files_of_all(options_.places.system.procfs)),
      pace_(loop, options_.interval, [this] { tick(); }) {
  if (options_.most_processes > 0) processes_.emplace(options_.most_processes);
  tick();
  pace_.start();
}

void SharedEnergy::tick() {
  if (is_busy_) return;  // a file or a driver hangs: this interval joins the next one
  const auto work = [reader = reader_, now = loop_.now(), take = std::weak_ptr(take_),
                     post = loop_.poster()] {
    auto files = std::make_shared<const ShareFiles>(reader->read(now));
    post([files = std::move(files), take] {
      if (const auto receiver = take.lock()) (*receiver)(files);
    });
  };
  is_busy_ = worker_.add(work);
}

void SharedEnergy::gather(std::shared_ptr<const ShareFiles> files) {
  scrape_.gather(view_, [this, files = std::move(files)](Domains domains) {
    const auto asked = answering(gpus_, domains);
    gpus_.ask(asked, GpuQuestion::processes,
              [this, files, domains = std::move(domains)](const Gpus::Answers& answers) {
                divide(*files, domains, answers);
                is_busy_ = false;
              });
  });
}

void SharedEnergy::divide(const ShareFiles& files, const Domains& domains,
                          const Gpus::Answers& answers) {
  const TimePoint at = loop_.now();
  IntervalEnergies energies{.length = last_at_ ? Seconds(at - *last_at_) : Seconds(0)};
  if (auto cpus = divide_cpus(files, domains, at, energies.length)) {
    energies.groups.push_back(std::move(*cpus));
  }
  for (const wire::DeviceId id : gpus_.ids()) {
    const std::string name = gpu_domain_of(gpus_.sensor(id)).name();
    const auto found = std::ranges::find(domains, name, &DomainMetrics::domain);
    if (found == domains.end() || !found->additive) continue;
    divide_one_gpu(files, *found, id, answers, at, energies);
  }
  std::set<CgroupGroup> live;
  for (const auto& [group, used_us] : files.groups_us) live.insert(live.end(), group);
  ledger_.add(at, energies.length, energies.groups, std::move(live));
  if (processes_) {
    processes_->add(at, energies.length, energies.processes, std::move(energies.live));
  }
  last_at_ = at;
  pod_names_ = files.kubelet.names;
  no_groups_ = files.no_groups;
  is_whole_ = files.is_whole;
}

IdlePower SharedEnergy::idle_power(const ShareFiles& files, const std::vector<std::string>& domains,
                                   Watts power) {
  lowest_ = std::min(lowest_.value_or(power), power);
  IdlePower idle{.lowest = *lowest_};
  std::vector<std::string> sorted = domains;
  std::ranges::sort(sorted);
  std::string why = files.baseline.unknown;
  if (files.baseline.baseline) {
    why = why_not_usable(*files.baseline.baseline, files.machine, sorted, to_unix(loop_.now()));
  }
  if (why.empty()) {
    idle.baseline = files.baseline.baseline->power();
    idle_ = {.is_measured = true,
             .power = idle.baseline->typical,
             .note = baseline_text(*files.baseline.baseline)};
    return idle;
  }
  idle_ = {.power = idle.lowest,
           .note = fmt::format("{}; taken as unexplained: the lowest power of an interval", why)};
  return idle;
}

std::optional<DividedEnergy> SharedEnergy::divide_cpus(const ShareFiles& files,
                                                       const Domains& domains, TimePoint at,
                                                       Seconds length) {
  std::vector<std::string> covers;
  std::optional<std::uint64_t> measured_uj;
  std::string unknown;
  for (const DomainMetrics& metrics : domains) {
    if (!metrics.additive || !is_shared(Domain::parse(metrics.domain))) continue;
    covers.push_back(metrics.domain);
    const auto step = steps_.take(metrics.domain, metrics.energy_j, at);
    if (step) measured_uj = measured_uj.value_or(0) + step->uj;
    if (!step || step->is_restart || lacks_time(*step, length)) {
      unknown =
          fmt::format("the energy of {} is unknown for a part of the interval", metrics.domain);
    }
  }
  if (!measured_uj || length < kLeastLength) return std::nullopt;
  DividedEnergy divided;
  if (unknown.empty()) unknown = files.no_groups;
  if (unknown.empty()) {
    const Watts power = Joules(static_cast<double>(*measured_uj) * 1e-6) / length;
    divided =
        divide_cpu(*measured_uj, length, {.groups_us = files.groups_us, .busy_us = files.busy_us},
                   idle_power(files, covers, power));
  } else {
    divided = undivided(*measured_uj, std::move(unknown));
  }
  divided.domain = "cpu";
  divided.covers = std::move(covers);
  return divided;
}

GpuLoad SharedEnergy::load_of(const Domain& gpu, const DomainMetrics& metrics,
                              const DeviceAnswer& answer, TimePoint at) {
  GpuLoad load{.users = users_[gpu].take(
                   ProcessList{.at = at, .number = ++lists_, .processes = answer.processes}, at),
               .users_unknown = why_users_are_missing(gpu, sees_all_files_)};
  if (metrics.utilization_ratio) load.utilization_percent = *metrics.utilization_ratio * 100.0;
  return load;
}

void SharedEnergy::divide_one_gpu(const ShareFiles& files, const DomainMetrics& metrics,
                                  wire::DeviceId id, const Gpus::Answers& answers, TimePoint at,
                                  IntervalEnergies& energies) {
  const Sensor& sensor = gpus_.sensor(id);
  const auto answer = answers.find(id);
  const GpuLoad load = load_of(gpu_domain_of(sensor), metrics,
                               answer == answers.end() ? DeviceAnswer{} : answer->second, at);
  const bool sees_users = sees_machine_pids_ && load.users.has_value();
  const std::map<pid_t, GpuProcess> known = processes_ && sees_users
                                                ? processes_of(options_.places.system, *load.users)
                                                : std::map<pid_t, GpuProcess>();
  for (const auto& [pid, process] : known) energies.live.insert(process);
  const auto step = steps_.take(metrics.domain, metrics.energy_j, at);
  if (!step || energies.length < kLeastLength) return;
  const auto add = [&](auto energy, auto& to) {
    energy.domain = metrics.domain;
    energy.covers = {metrics.domain};
    to.push_back(std::move(energy));
  };
  const System& system = options_.places.system;
  if (step->is_restart || lacks_time(*step, energies.length)) {
    const std::string unknown = "its energy is unknown for a part of the interval";
    add(undivided(step->uj, unknown), energies.groups);
    if (processes_) add(undivided<GpuProcess>(step->uj, unknown), energies.processes);
    return;
  }
  const bool has_mps = sees_users && std::ranges::any_of(*load.users, [&](const GpuUser& user) {
                         return is_mps_server(system, user.pid);
                       });
  const auto group_of = [&](pid_t pid) { return group_of_process(system, pid); };
  add(divide_among<CgroupGroup>(step->uj, load, sees_machine_pids_, has_mps, group_of,
                                owner_of(sensor.device(), files)),
      energies.groups);
  if (!processes_) return;
  const auto itself = [&](pid_t pid) -> std::optional<GpuProcess> {
    const auto found = known.find(pid);
    return found != known.end() ? std::optional(found->second) : std::nullopt;
  };
  add(divide_among<GpuProcess>(step->uj, load, sees_machine_pids_, has_mps, itself),
      energies.processes);
}

std::vector<std::string> SharedEnergy::notes() const {
  std::vector<std::string> notes;
  if (!no_groups_.empty()) {
    notes.push_back(no_groups_);
  } else if (!is_whole_) {
    notes.push_back(
        fmt::format("not all groups are read: there are more than {}, or they lie too "
                    "deep; the others are in 'rest'",
                    CgroupTree::kMostGroups));
  }
  if (const std::size_t hidden = ledger_.hidden(); hidden > 0) {
    notes.push_back(
        fmt::format("{} {} no row: they used nothing yet, or all {} rows are taken "
                    "(--shares-top)",
                    counted(hidden, "group"), hidden == 1 ? "has" : "have", options_.most_rows));
  }
  const std::size_t processes = processes_ ? processes_->hidden() : 0;
  if (processes > 0) {
    notes.push_back(fmt::format(
        "{} GPU {} no row: they used nothing yet, or all {} rows are taken "
        "(--shares-gpu-processes)",
        processes, processes == 1 ? "process has" : "processes have", options_.most_processes));
  }
  return notes;
}

}  // namespace wattle::daemon
