#include "top/group_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "usage/process/process_times.hpp"

namespace wattle::app {
namespace {

std::string group_name(const TopProcess& process, TopKey key) {
  const auto or_none = [](std::string found, const char* none) {
    return found.empty() ? std::string(none) : found;
  };
  switch (key) {
    case TopKey::user:
      return process.user;
    case TopKey::cgroup:
      return process.cgroup;
    case TopKey::container:
      return or_none(container_in(process.cgroup), "no container");
    case TopKey::pod:
      return or_none(pod_in(process.cgroup), "no pod");
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
      row.cpu += process.cpu;
      add_to(row.memory_bytes, process.memory_bytes);
      by_pid_.emplace(process.pid, place);
    }
  }

  /// Null for a process that was not seen.
  [[nodiscard]] GroupRow* row_of(pid_t pid) {
    const auto found = by_pid_.find(pid);
    return found == by_pid_.end() ? nullptr : &rows_[found->second];
  }

  [[nodiscard]] std::vector<GroupRow>& rows() noexcept { return rows_; }

 private:
  std::vector<GroupRow> rows_{};
  std::unordered_map<pid_t, std::size_t> by_pid_;
};

/// Who gets the energy of a GPU: absent where that is not known.
struct GpuUse {
  GroupRow* row = nullptr;
  double part = 0.0;
};

/// Adds who uses a GPU to the rows. What it spent goes to `undivided` where its users are not
/// known.
class GpuDivision {
 public:
  GpuDivision(Grouped& grouped, GroupRow& idle, GroupRow& undivided)
      : grouped_(grouped), idle_(idle), undivided_(undivided) {}

  void add_device(const TopDevice& device, Joules energy) {
    const EnergyRange all{Joules(0.0), energy, energy};
    if (!device.users) return add_to(undivided_.energy, all);
    for (const GpuUser& user : *device.users) {
      GroupRow* const row = grouped_.row_of(user.pid);
      if (row != nullptr) add_to(row->gpu_memory_bytes, user.memory_bytes);
    }
    if (device.users->empty()) return add_to(idle_.energy, all);
    const std::vector<GpuUse> uses = uses_of(*device.users);
    if (uses.empty()) return add_to(undivided_.energy, all);
    for (const GpuUse& use : uses) {
      add_to(use.row->energy, {Joules(0.0), energy * use.part, energy});
      if (!device.utilization_percent) continue;
      add_to(use.row->gpu_percent, std::optional(*device.utilization_percent * use.part));
    }
  }

 private:
  /// Empty where it is not known who used how much.
  std::vector<GpuUse> uses_of(const std::vector<GpuUser>& users) {
    std::vector<GpuUse> uses;
    double sum = 0.0;
    bool is_known = true;
    for (const GpuUser& user : users) {
      GroupRow* row = grouped_.row_of(user.pid);
      if (row == nullptr) row = &undivided_;
      is_known = is_known && user.part;
      sum += user.part.value_or(0.0);
      const auto found = std::ranges::find(uses, row, &GpuUse::row);
      if (found == uses.end()) {
        uses.push_back({row, user.part.value_or(0.0)});
      } else {
        found->part += user.part.value_or(0.0);
      }
    }
    if (uses.size() == 1) return {{uses.front().row, 1.0}};
    if (!is_known || !(sum > 0.0)) return {};
    for (GpuUse& use : uses) use.part /= sum;
    return uses;
  }

  Grouped& grouped_;
  GroupRow& idle_;
  GroupRow& undivided_;
};

Joules energy_of(const TopDevice& device, Seconds length) {
  return Watts(device.power->value) * length;
}

/// All rows of a table while it is made.
struct DividedRows {
  Grouped grouped;
  GroupRow idle{.kind = GroupRow::Kind::idle, .name = "idle machine"};
  GroupRow rest{.kind = GroupRow::Kind::rest, .name = "interrupts, and processes that ended"};
  GroupRow undivided{.kind = GroupRow::Kind::undivided, .name = "not divided: users not known"};
  Seconds cpu{0};  ///< CPU time of everything
};

/// Divides the measured energy of CPUs and DRAM above the idle power by CPU time. False: that
/// cannot be done.
bool divide_cpu(DividedRows& rows, const TopObservation& seen, Joules energy) {
  if (!seen.idle || energy < seen.idle->low * seen.length) return false;
  TopGroups groups{.groups = {}, .rest = {.name = {}, .cpu = rows.rest.cpu}, .cpu = rows.cpu};
  for (const GroupRow& row : rows.grouped.rows()) {
    groups.groups.push_back({.name = {}, .cpu = row.cpu});
  }
  const Joules idle = share_energy(groups, seen.length, energy, *seen.idle);
  add_to(rows.idle.energy, {idle, idle, idle});
  for (std::size_t i = 0; i < groups.groups.size(); ++i) {
    if (rows.grouped.rows()[i].cpu <= Seconds(0)) continue;
    add_to(rows.grouped.rows()[i].energy, groups.groups[i].energy.value_or(EnergyRange{}));
  }
  add_to(rows.rest.energy, groups.rest.energy.value_or(EnergyRange{}));
  return true;
}

/// True where shares of the measured power say something: of CPUs above idle, or of a GPU.
bool divide_power(DividedRows& rows, const TopObservation& seen) {
  std::optional<Joules> cpus;
  bool is_divided = false;
  GpuDivision gpus(rows.grouped, rows.idle, rows.undivided);
  for (const TopDevice& device : seen.devices) {
    if (!device.is_counted || !device.power || !device.machine.empty()) continue;
    const Joules energy = energy_of(device, seen.length);
    if (device.is_gpu) {
      gpus.add_device(device, energy);
      is_divided = true;
    } else {
      cpus = cpus.value_or(Joules(0.0)) + energy;
    }
  }
  if (!cpus) return is_divided;
  if (divide_cpu(rows, seen, *cpus)) return true;
  add_to(rows.undivided.energy, {Joules(0.0), *cpus, *cpus});
  rows.undivided.name =
      is_divided ? "CPUs and DRAM: no baseline to divide by" : rows.undivided.name;
  return is_divided;
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
  for (GroupRow* row : {&rows.idle, &rows.rest, &rows.undivided}) visit(*row);
}

void fill_shares(DividedRows& rows, ShareOf share_of) {
  double all = 0.0;
  const auto amount = [&](const GroupRow& row) {
    if (share_of == ShareOf::cpu_time) return row.cpu.count();
    return row.energy ? row.energy->typical.si() : 0.0;
  };
  each_row(rows, [&](GroupRow& row) { all += amount(row); });
  each_row(rows, [&](GroupRow& row) { row.share = all > 0.0 ? 100.0 * amount(row) / all : 0.0; });
}

}  // namespace

GroupTable group_rows(const TopObservation& seen, TopKey key) {
  GroupTable table{.length = seen.length};
  DividedRows rows{.grouped = Grouped(seen, key)};
  Seconds used{0};
  for (const TopProcess& process : seen.processes) used += process.cpu;
  rows.cpu = std::max(used, seen.busy.value_or(Seconds(0)));
  rows.rest.cpu = rows.cpu - used;
  if (seen.length > Seconds(0) && divide_power(rows, seen)) {
    table.share_of = ShareOf::power;
  } else if (seen.length > Seconds(0) && seen.estimate) {
    each_row(rows, [](GroupRow& row) { row.energy.reset(); });
    divide_estimate(rows, seen);
    table.share_of = ShareOf::estimate;
  } else {
    each_row(rows, [](GroupRow& row) { row.energy.reset(); });
  }
  fill_shares(rows, table.share_of);
  table.groups = std::move(rows.grouped.rows());
  for (GroupRow* row : {&rows.rest, &rows.idle, &rows.undivided}) {
    if (row->share > 0.0 || row->cpu > Seconds(0)) table.others.push_back(std::move(*row));
  }
  return table;
}

GroupRow sum_of(const std::vector<const GroupRow*>& rows, GroupRow::Kind kind, std::string name) {
  GroupRow sum{.kind = kind, .name = std::move(name)};
  for (const GroupRow* row : rows) {
    sum.processes += row->processes;
    sum.cpu += row->cpu;
    add_to(sum.memory_bytes, row->memory_bytes);
    add_to(sum.gpu_percent, row->gpu_percent);
    add_to(sum.gpu_memory_bytes, row->gpu_memory_bytes);
    if (row->energy) add_to(sum.energy, *row->energy);
    sum.share += row->share;
  }
  return sum;
}

void order_as_tree(std::vector<GroupRow>& rows, const std::vector<TopProcess>& processes) {
  std::unordered_map<pid_t, pid_t> parents;
  for (const TopProcess& process : processes) parents.emplace(process.pid, process.parent);
  std::unordered_map<pid_t, std::size_t> place_of;
  for (std::size_t i = 0; i < rows.size(); ++i) place_of.emplace(rows[i].pid, i);
  std::unordered_map<std::size_t, std::vector<std::size_t>> children;
  std::vector<std::size_t> open;  // a stack: what comes first is at its end
  for (std::size_t i = rows.size(); i-- > 0;) {
    const auto parent = place_of.find(parents[rows[i].pid]);
    if (parent == place_of.end() || parent->second == i) {
      open.push_back(i);
    } else {
      children[parent->second].push_back(i);
    }
  }
  std::vector<GroupRow> ordered;
  ordered.reserve(rows.size());
  std::vector<bool> is_done(rows.size());
  const auto visit_all = [&] {
    while (!open.empty()) {
      const std::size_t place = open.back();
      open.pop_back();
      if (is_done[place]) continue;
      is_done[place] = true;
      const std::size_t depth = rows[place].depth;
      ordered.push_back(std::move(rows[place]));
      const auto below = children.find(place);
      if (below == children.end()) continue;
      for (const std::size_t child : below->second) {
        rows[child].depth = depth + 1;
        open.push_back(child);
      }
    }
  };
  visit_all();
  for (std::size_t i = 0; i < rows.size(); ++i) {  // circles
    if (is_done[i]) continue;
    rows[i].depth = 0;
    open.push_back(i);
    visit_all();
  }
  rows = std::move(ordered);
}

std::vector<double> rounded_shares(const std::vector<double>& shares) {
  constexpr double kTenths = 10.0;
  std::vector<double> rounded;
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  double sum = 0.0;
  double floors = 0.0;
  for (const double share : shares) {
    sum += share;
    rounded.push_back(std::floor(share * kTenths + 1e-9));
    floors += rounded.back();
  }
  const auto left = static_cast<std::size_t>(std::max(0.0, std::round(sum * kTenths) - floors));
  const auto remainder = [&](std::size_t i) { return shares[i] * kTenths - rounded[i]; };
  std::ranges::stable_sort(order, std::ranges::greater(), remainder);
  for (std::size_t i = 0; i < std::min(left, order.size()); ++i) rounded[order[i]] += 1.0;
  for (double& share : rounded) share /= kTenths;
  return rounded;
}

}  // namespace wattle::app
