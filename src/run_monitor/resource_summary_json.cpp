// A summary as JSON.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>

#include "base/numbers/known_sum.hpp"
#include "base/text/python_repr.hpp"
#include "base/text/quantity.hpp"
#include "run_monitor/json_text.hpp"
#include "run_monitor/resource_summary.hpp"
#include "wattle/error.hpp"
#include "wattle/hardware_monitor.hpp"
#include "wattle/run_log.hpp"

namespace wattle {
namespace {

Value number(const std::optional<double>& figure) { return figure ? Value(*figure) : Value(); }
Value one_decimal(const std::optional<double>& figure) {
  return figure ? Value(python_round(*figure, 1)) : Value();
}
Value bytes(const std::optional<double>& mebibytes) {
  if (!mebibytes) return {};
  const double bytes = *mebibytes * kMebibyte;
  constexpr double kMostWhole = 0x1p63;
  return bytes < kMostWhole ? Value(std::llround(bytes)) : Value(bytes);
}

Value flags_json(const Flags& flags) {
  Value::Array names;
  flags.each([&](std::string_view name) { names.emplace_back(std::string(name)); });
  return names;
}

Value uncertainty(const std::optional<Joules>& energy) {
  return energy ? Value(with_two_digits(*energy).si()) : Value();
}

/// Null where nothing was measured at all.
Value unknown_s(const std::optional<Joules>& energy, Seconds unknown) {
  return energy || unknown > Seconds(0) ? Value(unknown.count()) : Value();
}

// Members are added one by one: where memory ends while a list of them in braces is copied, g++ 12
// destroys what was never made.

Value::Object figures_json(const GpuFigures& figures) {
  Value::Object members;
  members.emplace_back("peak_memory_used_bytes", bytes(figures.peak_vram_mb));
  members.emplace_back("mean_utilization_percent", number(figures.gpu_util_mean_pct));
  members.emplace_back("max_utilization_percent", number(figures.gpu_util_max_pct));
  members.emplace_back("mean_memory_utilization_percent", number(figures.mem_util_mean_pct));
  members.emplace_back("max_memory_utilization_percent", number(figures.mem_util_max_pct));
  members.emplace_back("mean_power_w", number(figures.power_watts_mean));
  members.emplace_back("max_power_w", number(figures.power_watts_max));
  members.emplace_back("energy_j", figures.energy ? Value(figures.energy->si()) : Value());
  members.emplace_back("energy_uncertainty_j", uncertainty(figures.energy_uncertainty));
  members.emplace_back("energy_unknown_s", unknown_s(figures.energy, figures.energy_unknown));
  members.emplace_back("energy_method", figures.energy_method
                                            ? Value(std::string(to_string(*figures.energy_method)))
                                            : Value());
  members.emplace_back("energy_flags", flags_json(figures.energy_flags));
  return members;
}

Value::Object energy_json(const MeasuredEnergy& energy) {
  Value::Object members;
  members.emplace_back("energy_j", energy.energy ? Value(energy.energy->si()) : Value());
  members.emplace_back(
      "uncertainty_j",
      uncertainty(energy.energy ? std::optional(energy.uncertainty) : std::nullopt));
  members.emplace_back("unknown_s", unknown_s(energy.energy, energy.unknown));
  members.emplace_back("flags", flags_json(energy.flags));
  return members;
}

Value whole(const std::optional<std::uint64_t>& bytes) {
  return bytes ? Value(static_cast<std::int64_t>(*bytes)) : Value();
}

Value machine_json(const MachineSummary& machine) {
  Value::Array covers;
  for (const std::string& name : machine.energy_covers) covers.emplace_back(name);
  Value::Object members = energy_json(machine.energy);
  Value::Array missing;
  for (const MissingEnergy& part : machine.total_missing) {
    Value::Object entry;
    entry.emplace_back("kind", part.kind);
    entry.emplace_back("reason", part.reason);
    missing.emplace_back(std::move(entry));
  }
  members.emplace_back("covers", std::move(covers));
  members.emplace_back("total_missing", std::move(missing));
  members.emplace_back("peak_memory_bytes", whole(machine.peak_memory_bytes));
  members.emplace_back("memory_bytes", whole(machine.memory_bytes));
  members.emplace_back("disk_read_bytes", whole(machine.disk_read_bytes));
  members.emplace_back("disk_written_bytes", whole(machine.disk_written_bytes));
  members.emplace_back("network_received_bytes", whole(machine.network_received_bytes));
  members.emplace_back("network_sent_bytes", whole(machine.network_sent_bytes));
  return members;
}

Value value_or_null(const std::string& text) { return text.empty() ? Value() : Value(text); }

Value::Object file_json(const SummaryFile& file) {
  Value::Object members;
  members.emplace_back("path", file.path.string());
  members.emplace_back("rows", file.rows);
  members.emplace_back("bad_rows", file.bad_rows);
  members.emplace_back("unassigned_rows", file.unassigned_rows);
  members.emplace_back("gpus_by", value_or_null(file.gpus_by));
  members.emplace_back("problem", value_or_null(file.problem));
  members.emplace_back("note", value_or_null(file.note));
  return members;
}

}  // namespace

std::optional<double> total_mean_power(const ResourceSummary& summary) {
  KnownSum<double> power_w;
  for (const GpuSummary& gpu : summary.gpus) power_w.add(gpu.power_watts_mean);
  return power_w.value();
}

void ResourceSummary::set_allocator_peak(double mebibytes) {
  if (!std::isfinite(mebibytes) || mebibytes < 0.0) {
    throw InvalidArgument("cannot set the allocator's peak: it is a number of MiB from 0 on");
  }
  jax_peak_bytes_mb = mebibytes;
}

std::string ResourceSummary::to_dict() const {
  Value::Object members;
  members.emplace_back("peak_vram_mb", one_decimal(peak_vram_mb));
  members.emplace_back("gpu_util_mean_pct", one_decimal(gpu_util_mean_pct));
  members.emplace_back("gpu_util_max_pct", one_decimal(gpu_util_max_pct));
  members.emplace_back("power_watts_mean", one_decimal(power_watts_mean));
  members.emplace_back("power_watts_max", one_decimal(power_watts_max));
  members.emplace_back("cpu_usr_mean_pct", one_decimal(cpu_usr_mean_pct));
  members.emplace_back("cpu_idle_mean_pct", one_decimal(cpu_idle_mean_pct));
  if (jax_peak_bytes_mb) members.emplace_back("jax_peak_bytes_mb", one_decimal(jax_peak_bytes_mb));
  if (mem_util_mean_pct) {
    members.emplace_back("mem_util_mean_pct", one_decimal(mem_util_mean_pct));
    members.emplace_back("mem_util_max_pct", one_decimal(mem_util_max_pct));
  }
  std::string text;
  append_json(text, Value(std::move(members)));
  return text + '\n';
}

std::string ResourceSummary::to_json() const {
  Value::Array each;
  for (const GpuSummary& gpu : gpus) {
    Value::Object members;
    members.emplace_back("name", gpu.name);
    std::ranges::move(figures_json(gpu), std::back_inserter(members));
    each.emplace_back(std::move(members));
  }
  Value::Array parts;
  for (const DomainSummary& domain : domains) {
    Value::Object members;
    members.emplace_back("name", domain.name);
    std::ranges::move(energy_json(domain.energy), std::back_inserter(members));
    members.emplace_back("mean_power_w",
                         domain.mean_power ? Value(domain.mean_power->si()) : Value());
    parts.emplace_back(std::move(members));
  }
  Value::Array sources;
  for (const SummaryFile& file : files) sources.emplace_back(file_json(file));
  Value::Object members;
  members.emplace_back("schema", "wattle.summary/1");
  Value::Object all = figures_json(*this);
  all.emplace_back("total_mean_power_w", number(total_mean_power(*this)));
  members.emplace_back("all_gpus", std::move(all));
  members.emplace_back("gpus", std::move(each));
  members.emplace_back("domains", std::move(parts));
  members.emplace_back("machine", machine_json(machine));
  members.emplace_back("memory_utilization_source", value_or_null(mem_util_source.string()));
  members.emplace_back("mean_cpu_user_percent", number(cpu_usr_mean_pct));
  members.emplace_back("mean_cpu_idle_percent", number(cpu_idle_mean_pct));
  members.emplace_back("allocator_peak_bytes", bytes(jax_peak_bytes_mb));
  members.emplace_back("files", std::move(sources));
  std::string text;
  append_json(text, Value(std::move(members)));
  return text + '\n';
}

}  // namespace wattle
