#include "top/group_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/text/text.hpp"
#include "estimate/energy_share.hpp"
#include "usage/gpu/gpu_division.hpp"
#include "usage/process/process_times.hpp"

namespace wattle::app {

std::string name_in_cgroup(const std::string& cgroup, TopKey key) {
  const auto or_none = [](std::string found, const char* none) {
    return found.empty() ? std::string(none) : found;
  };
  if (key == TopKey::container) return or_none(container_in(cgroup), "no container");
  if (key == TopKey::pod) return or_none(pod_in(cgroup), "no pod");
  return cgroup;
}

namespace {

std::string group_name(const TopProcess& process, TopKey key) {
  switch (key) {
    case TopKey::user:
      return process.user;
    case TopKey::cgroup:
    case TopKey::container:
    case TopKey::pod:
      return name_in_cgroup(process.cgroup, key);
    case TopKey::command:
    case TopKey::process:
      break;
  }
  return process.command;
}

template <class T>
void add_to(std::optional<T>& sum, const std::optional<T>& part) {
  if (part) sum = sum.value_or(T{}) + *part;
}

void add_to(std::optional<EnergyRange>& sum, const EnergyRange& part) {
  const EnergyRange before = sum.value_or(EnergyRange{});
  sum = EnergyRange{before.low + part.low, before.typical + part.typical, before.high + part.high};
}

/// Rows by what their processes have in common, and which row a process is in.
class Grouped {
 public:
  Grouped(const TopObservation& seen, TopKey key) {
    std::unordered_map<std::string, std::size_t> by_name;
    for (const TopProcess& process : seen.processes) {
      std::string name = group_name(process, key);
      std::size_t place = rows_.size();
      if (key != TopKey::process) place = by_name.try_emplace(name, place).first->second;
      if (place == rows_.size()) {
        rows_.push_back({.name = std::move(name)});
        if (key == TopKey::process) rows_.back().pid = process.pid;
      }
      GroupRow& row = rows_[place];
      ++row.processes;
      row.cpu += process.cpu.value_or(Seconds(0));
      if (!process.cpu) ++row.unknown_cpu;
      add_to(row.memory_bytes, process.memory_bytes);
      by_pid_.emplace(process.pid, place);
      if (process.command == kMpsServer) mps_servers_.push_back(process.pid);
    }
  }

  /// The place of its row; absent for a process that was not seen.
  [[nodiscard]] std::optional<std::size_t> place_of(pid_t pid) const {
    const auto found = by_pid_.find(pid);
    return found == by_pid_.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] bool is_mps_server(const GpuUser& user) const {
    return std::ranges::find(mps_servers_, user.pid) != mps_servers_.end();
  }
  [[nodiscard]] std::vector<GroupRow>& rows() noexcept { return rows_; }

 private:
  std::vector<GroupRow> rows_{};
  std::unordered_map<pid_t, std::size_t> by_pid_;
  std::vector<pid_t> mps_servers_{};
};

/// Energy whose users are not known, by the reason.
class Undivided {
 public:
  void add(std::string_view what, std::string_view why, const EnergyRange& energy) {
    auto found = std::ranges::find(all_, why, &UndividedPart::why);
    if (found == all_.end()) {
      all_.push_back({.what = {}, .why = std::string(why), .energy = {}});
      found = std::prev(all_.end());
    }
    found->what.emplace_back(what);
    add_to(found->energy, energy);
  }
  [[nodiscard]] std::vector<GroupRow> rows() const {
    constexpr std::size_t kMostNamed = 2;
    std::vector<GroupRow> rows;
    for (const UndividedPart& part : all_) {
      const std::string what = part.what.size() > kMostNamed ? counted(part.what.size(), "GPU")
                                                             : joined(part.what, ", ");
      rows.push_back({.kind = GroupRow::RowKind::undivided,
                      .name = fmt::format("not divided: {}: {}", what, part.why),
                      .energy = part.energy});
    }
    return rows;
  }

 private:
  struct UndividedPart {
    std::vector<std::string> what;
    std::string why;
    std::optional<EnergyRange> energy;
  };
  std::vector<UndividedPart> all_{};
};

/// Adds who uses a GPU to the rows.
class GpuDivision {
 public:
  GpuDivision(Grouped& grouped, GroupRow& idle, Undivided& undivided)
      : grouped_(grouped), idle_(idle), undivided_(undivided) {}

  /// The memory is known also where the power is not.
  void add_memory(const TopDevice& device) {
    for (const GpuUser& user : device.users.value_or(std::vector<GpuUser>())) {
      const auto place = grouped_.place_of(user.pid);
      if (place) add_to(grouped_.rows()[*place].gpu_memory_bytes, user.memory_bytes);
    }
  }
  /// True if a group got some of its energy.
  bool add_device(const TopDevice& device, Joules energy) {
    const EnergyRange all{Joules(0.0), energy, energy};
    const GpuParts known = parts_of(device);
    if (!known.unknown.empty()) {
      undivided_.add(device.name, known.unknown, all);
      return false;
    }
    if (known.parts.empty()) add_to(idle_.energy, all);
    bool is_divided = false;
    for (const GpuPart& use : known.parts) {
      const EnergyRange part{Joules(0.0), energy * use.part, energy};
      if (!use.group) {
        undivided_.add(device.name, kUserNotSeen, part);
        continue;
      }
      is_divided = true;
      GroupRow& row = grouped_.rows()[*use.group];
      add_to(row.energy, part);
      if (!device.utilization_percent) continue;
      add_to(row.gpu_percent, std::optional(*device.utilization_percent * use.part));
    }
    return is_divided;
  }

 private:
  [[nodiscard]] GpuParts parts_of(const TopDevice& device) const {
    const auto& users = device.users;
    const bool has_mps = users && std::ranges::any_of(*users, [&](const GpuUser& user) {
                           return grouped_.is_mps_server(user);
                         });
    return divide_gpu(
        {.users = users,
         .users_unknown = device.users_unknown,
         .utilization_percent = device.utilization_percent},
        [&](const GpuUser& user) { return grouped_.place_of(user.pid); }, has_mps);
  }

  Grouped& grouped_;
  GroupRow& idle_;
  Undivided& undivided_;
};

/// All rows of a table while it is made.
struct DividedRows {
  Grouped grouped;
  GroupRow idle{.kind = GroupRow::RowKind::idle, .name = "idle machine"};
  GroupRow rest = no_rest();
  Undivided unknown{};                ///< of measured power
  std::vector<GroupRow> undivided{};  ///< its rows, where power is divided
  std::vector<std::string> notes{};   ///< power that is in no row
  Seconds cpu{0};                     ///< CPU time of everything
};

/// The measured energy of packages and DRAM.
struct PackageEnergy {
  std::optional<Joules> known{};
  std::vector<std::string> missing{};  ///< devices whose power is not known
};

/// Why the energy of CPUs cannot be divided; empty if it can. A baseline is of all of them.
std::string why_not_divided(const PackageEnergy& cpus, const TopObservation& seen, Seconds length) {
  if (!seen.idle) return "no baseline";
  if (!cpus.missing.empty()) {
    return fmt::format("the power of {} is unknown", joined(cpus.missing, ", "));
  }
  if (*cpus.known < seen.idle->low * length)
    return "less power than the baseline of the idle machine";
  return {};
}

/// Divides the measured energy of CPUs and DRAM above the idle power by CPU time.
void divide_cpu(DividedRows& rows, const DividedCpus& cpus) {
  const Joules idle = idle_part(cpus);
  add_to(rows.idle.energy, {idle, idle, idle});
  for (GroupRow& row : rows.grouped.rows()) {
    if (row.cpu > Seconds(0)) add_to(row.energy, part_of(cpus, row.cpu));
  }
  add_to(rows.rest.energy, part_of(cpus, rows.rest.cpu));
}

/// True where shares of the measured power say something: of CPUs above idle, or of a GPU.
bool divide_power(DividedRows& rows, const TopObservation& seen, Seconds length) {
  PackageEnergy cpus;
  bool is_divided = false;
  GpuDivision gpus(rows.grouped, rows.idle, rows.unknown);
  for (const TopDevice& device : seen.devices) {
    if (!device.is_counted || !device.machine.empty()) continue;
    if (device.is_gpu) gpus.add_memory(device);
    if (!device.power && device.is_gpu) {
      rows.notes.push_back(fmt::format("the power of {} is unknown", device.name));
    } else if (!device.power) {
      cpus.missing.push_back(device.name);
    }
    if (!device.power) continue;
    const Joules energy = Watts(device.power->value) * length;
    if (device.is_gpu) {
      is_divided = gpus.add_device(device, energy) || is_divided;
    } else {
      cpus.known = cpus.known.value_or(Joules(0.0)) + energy;
    }
  }
  if (!cpus.known) return is_divided;
  if (!seen.idle && !is_divided) return false;  // `idle_note` says why
  const std::string why = why_not_divided(cpus, seen, length);
  if (!why.empty()) {
    rows.unknown.add("CPUs and DRAM", why, {Joules(0.0), *cpus.known, *cpus.known});
    return is_divided;
  }
  divide_cpu(rows, {.wall = length, .measured = *cpus.known, .idle = *seen.idle, .cpu = rows.cpu});
  return true;
}

void divide_estimate(DividedRows& rows, const TopObservation& seen) {
  const TopEstimate& estimate = *seen.estimate;
  const auto part_of_busy = [&](GroupRow& row) {
    if (row.cpu <= Seconds(0) || rows.cpu <= Seconds(0)) return;
    const double part = row.cpu / rows.cpu;
    row.energy = EnergyRange{estimate.busy.low * part, estimate.busy.typical * part,
                             estimate.busy.high * part};
  };
  for (GroupRow& row : rows.grouped.rows()) part_of_busy(row);
  part_of_busy(rows.rest);
  const Joules idle = std::max(estimate.machine.typical - estimate.busy.typical, Joules(0.0));
  rows.idle.energy = EnergyRange{std::min(estimate.machine.low, idle), idle,
                                 std::max(estimate.machine.high, idle)};
}

template <class Visit>
void each_row(DividedRows& rows, Visit visit) {
  for (GroupRow& row : rows.grouped.rows()) visit(row);
  for (GroupRow* row : {&rows.idle, &rows.rest}) visit(*row);
  for (GroupRow& row : rows.undivided) visit(row);
}

/// The row's part of the shared energy; absent if unknown.
std::optional<double> amount_of(const GroupRow& row, ShareOf share_of, bool is_all_divided) {
  if (share_of == ShareOf::cpu_time) {
    const bool is_known = row.processes == 0 || row.unknown_cpu < row.processes;
    return is_known ? std::optional(row.cpu.count()) : std::nullopt;
  }
  if (row.energy) return row.energy->typical.si();
  return is_all_divided && row.unknown_cpu == 0 ? std::optional(0.0) : std::nullopt;
}

void fill_shares(DividedRows& rows, ShareOf share_of) {
  double all = 0.0;
  const bool is_all_divided =
      share_of == ShareOf::estimate || (rows.undivided.empty() && rows.notes.empty());
  const auto amount = [&](const GroupRow& row) { return amount_of(row, share_of, is_all_divided); };
  each_row(rows, [&](const GroupRow& row) { all += amount(row).value_or(0.0); });
  if (!(all > 0.0)) return;
  each_row(rows, [&](GroupRow& row) {
    if (const auto own = amount(row)) row.share = 100.0 * *own / all;
  });
}

}  // namespace

Joules idle_part(const DividedCpus& cpus) {
  return std::min(cpus.idle.typical * cpus.wall, cpus.measured);
}

EnergyRange part_of(const DividedCpus& cpus, Seconds cpu) {
  const std::array span = {
      ShareSpan{.wall = cpus.wall, .energy = cpus.measured, .command = cpu, .busy = cpus.cpu}};
  EnergyRange range = balance_of(span, cpus.measured, cpus.idle).command;
  const Joules above = cpus.measured - idle_part(cpus);
  range.typical = cpus.cpu > Seconds(0) ? above * (cpu / cpus.cpu) : Joules(0.0);
  range.low = std::min(range.low, range.typical);
  range.high = std::max(range.high, range.typical);
  return range;
}

GroupTable group_rows(const TopObservation& seen, TopKey key) {
  GroupTable table{.length = seen.length};
  DividedRows rows{.grouped = Grouped(seen, key)};
  Seconds used{0};
  for (const GroupRow& row : rows.grouped.rows()) {
    used += row.cpu;
    if (row.unknown_cpu > 0) rows.rest.name = "interrupts, and processes of unknown CPU time";
  }
  rows.cpu = std::max(used, seen.busy.value_or(Seconds(0)));
  rows.rest.cpu = rows.cpu - used;
  const bool is_power = seen.length && divide_power(rows, seen, *seen.length);
  if (is_power) {
    table.share_of = ShareOf::power;
    rows.undivided = rows.unknown.rows();
  } else {
    each_row(rows, [](GroupRow& row) { row.energy.reset(); });
    for (GroupRow& row : rows.unknown.rows()) rows.notes.push_back(std::move(row.name));
    if (seen.length && seen.estimate) {
      divide_estimate(rows, seen);
      table.share_of = ShareOf::estimate;
    }
  }
  fill_shares(rows, table.share_of);
  table.notes = std::move(rows.notes);
  table.groups = std::move(rows.grouped.rows());
  for (GroupRow* row : {&rows.rest, &rows.idle}) {
    if (row->share > 0.0 || row->cpu > Seconds(0)) table.others.push_back(std::move(*row));
  }
  std::ranges::move(rows.undivided, std::back_inserter(table.others));
  return table;
}

GroupRow sum_of(const std::vector<const GroupRow*>& rows, GroupRow::RowKind kind,
                std::string name) {
  GroupRow sum{.kind = kind, .name = std::move(name)};
  for (const GroupRow* row : rows) {
    sum.processes += row->processes;
    sum.cpu += row->cpu;
    sum.unknown_cpu += row->unknown_cpu;
    add_to(sum.memory_bytes, row->memory_bytes);
    add_to(sum.gpu_percent, row->gpu_percent);
    add_to(sum.gpu_memory_bytes, row->gpu_memory_bytes);
    if (row->energy) add_to(sum.energy, *row->energy);
    add_to(sum.share, row->share);
  }
  return sum;
}

}  // namespace wattle::app
