#include "run_monitor/tables/samples_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/json/enum_table.hpp"
#include "base/text/parse.hpp"
#include "base/text/quantity.hpp"
#include "base/text/split.hpp"
#include "run_monitor/tables/time_text.hpp"
#include "sampling/energy_figure.hpp"
#include "sensors/domain_traits.hpp"
#include "sensors/refusals.hpp"
#include "wattle/domain.hpp"

namespace wattle {
namespace {

constexpr std::string_view kCommon = "energy_common_j";
constexpr std::string_view kSamplesHeader = "time,device,index,uuid,quantity,value";
constexpr std::size_t kCells = 6;
constexpr std::string_view kFlag = "energy_flag_";
/// "not_measured: REASON", of older monitors without the reason.
constexpr std::string_view kNotMeasured = "not_measured";
constexpr std::string_view kReasonNotRecorded = "hw_samples.csv does not say why";
constexpr std::size_t kMostReason = 300;

/// Longer names are none of a domain.
constexpr std::size_t kMostName = 64;

/// The kind of the domain that a device is named after.
DomainKind kind_of_device(std::string_view name) noexcept {
  return kind_of_name(name).value_or(DomainKind::custom);
}

/// The flags with one of them set, or not.
Flags changed(Flags flags, Flag flag, bool is_set) noexcept {
  const std::uint32_t bit = Flags::of(flag).bits();
  return Flags::from_bits(is_set ? flags.bits() | bit : flags.bits() & ~bit);
}

std::optional<std::uint64_t> whole_bytes(const std::optional<double>& bytes) noexcept {
  constexpr double kMostExact = 0x1p63;
  if (!bytes || !(*bytes >= 0.0) || *bytes >= kMostExact) return std::nullopt;
  return static_cast<std::uint64_t>(*bytes);
}

}  // namespace

void SamplesTable::CounterGrowth::add(double value) noexcept {
  // The counters start again where the machine did.
  if (last && value >= *last) sum = sum.value_or(0.0) + (value - *last);
  if (!sum) sum = 0.0;
  last = value;
}

void SamplesTable::take(std::string_view line) {
  if (trimmed(line) == kSamplesHeader) return;
  const bool is_row = take_row(line);
  if (!is_row) note_bad([] { return fmt::format("expected: {}", kSamplesHeader); });
  count_row(is_row);
}

bool SamplesTable::take_row(std::string_view line) {
  std::array<std::string_view, kCells> cells;
  for (std::size_t i = 0; i < kCells; ++i) {
    const bool is_last = line.find(',') == std::string_view::npos;
    if (is_last != (i + 1 == kCells)) return false;
    cells[i] = take_until(line, ',');
  }
  const auto& [time, device, index, uuid, quantity, value] = cells;
  // One quantity has a sign.
  const bool is_negative = quantity == kCommon && value.starts_with('-');
  const Cell cell = parse_cell(value.substr(is_negative ? 1 : 0));
  if (!cell.is_number() || !move_to(time)) return false;
  if (std::string_view reason = quantity; take_until(reason, ':') == kNotMeasured) {
    if (not_measured_.size() == kMostGpus || device.size() > kMostName) return false;
    reason = trimmed(reason).substr(0, kMostReason);
    not_measured_.try_emplace(std::string(device), reason.empty() ? kReasonNotRecorded : reason);
    return true;
  }
  if (!kind_of_name(device)) {
    take_machine(device, quantity, cell);
    return true;
  }
  SampledDevice* const known = device_named(device, index, uuid);
  if (known == nullptr) return false;
  note_row_of(*known);
  take_device(*known, quantity, cell);
  if (is_negative) known->run.common_j = -cell.value();
  return true;
}

bool SamplesTable::move_to(std::string_view time) {
  if (!time_text_.empty() && time == time_text_) return true;
  const std::optional<std::int64_t> time_ms = parse_utc_ms(time);
  if (!time_ms) return false;
  weight_ = gaps_.next(*time_ms).weight();
  before_ = std::exchange(now_, {.number = now_.number + 1, .ms = *time_ms});
  time_text_ = time;
  if (rows() == 0) run_began_ = now_;
  return true;
}

/// A monitor was started: its sums start at 0 again, and nobody knows what was before.
void SamplesTable::begin_run() {
  gaps_.forget_last();
  (void)gaps_.next(now_.ms);
  weight_.reset();
  for (CounterGrowth& grown : grown_) grown.last.reset();
  for (SampledDevice& device : devices_) {
    if (device.run.length_s > 0.0) {
      if (device.ended.empty()) device.ended.emplace_back();
      add(device.ended.front(), ended_run(device, before_));
    }
    device.run = {};
    device.first = {};
  }
  ++runs_;
  run_began_ = now_;
}

void SamplesTable::note_row_of(SampledDevice& device) const noexcept {
  if (device.first.number == 0) device.first = now_;
  device.last = now_;
}

SamplesTable::EnergySums SamplesTable::ended_run(const SampledDevice& device,
                                                 const Moment& end) const noexcept {
  // Most domains have no row at the first time, and a row may be lost.
  constexpr std::uint64_t kFew = 2;
  EnergySums run = device.run;
  std::int64_t absent_ms = 0;
  if (device.first.number > run_began_.number + kFew) absent_ms += device.first.ms - run_began_.ms;
  if (end.number > device.last.number + kFew) {
    absent_ms += end.ms - device.last.ms;
    run.length_s = static_cast<double>(end.ms - run_began_.ms) * 1e-3;
  }
  if (absent_ms <= 0) return run;
  run.unknown_s += static_cast<double>(absent_ms) * 1e-3;
  run.flags.set(Flag::gap);
  return run;
}

std::string SamplesTable::note() const {
  return runs_ > 1 ? fmt::format("{} runs of a monitor", runs_) : std::string();
}

void SamplesTable::take_machine(std::string_view device, std::string_view quantity,
                                const Cell& cell) {
  const auto is = [&](std::string_view its_device, std::string_view its_quantity) {
    return device == its_device && quantity == its_quantity;
  };
  if (is("monitor", "interval_s")) begin_run();
  if (is("cpu", "user_percent") && is_share(cell)) cpu_user_.add(cell, weight_);
  if (is("cpu", "idle_percent") && is_share(cell)) cpu_idle_.add(cell, weight_);
  if (is("memory", "used_bytes")) peak_memory_ = std::max(peak_memory_.value_or(0.0), cell.value());
  if (is("memory", "total_bytes")) memory_ = cell.value();
  if (is("disk", "read_bytes")) grown_[0].add(cell.value());
  if (is("disk", "written_bytes")) grown_[1].add(cell.value());
  if (is("network", "received_bytes")) grown_[2].add(cell.value());
  if (is("network", "sent_bytes")) grown_[3].add(cell.value());
}

void SamplesTable::take_device(SampledDevice& device, std::string_view quantity, const Cell& cell) {
  const auto add_spread = [&](WeightedStatistics& spread, Cell value) {
    spread.add(value, weight_);
  };
  EnergySums& run = device.run;
  const bool is_of_energy = quantity.starts_with("energy_");
  if (is_of_energy) run.length_s = static_cast<double>(now_.ms - run_began_.ms) * 1e-3;
  if (quantity == "utilization_percent" && is_share(cell)) add_spread(device.spreads.util, cell);
  if (quantity == "memory_utilization_percent" && is_share(cell)) {
    add_spread(device.spreads.mem_util, cell);
  }
  if (quantity == "memory_used_bytes") {
    add_spread(device.spreads.memory_mib, Cell(std::floor(cell.value() / kMebibyte)));
  }
  if (quantity == "power_w") add_spread(device.spreads.power_w, cell);
  if (quantity == "energy_j") {
    run.is_known = true;
    run.energy_j = cell.value();
  }
  if (quantity == "energy_uncertainty_j") {
    run.has_uncertainty = true;
    run.uncertainty_j = cell.value();
  }
  if (quantity == kCommon) run.common_j = cell.value();
  if (quantity == "energy_unknown_s") run.unknown_s = cell.value();
  if (quantity == "energy_integrated_s") run.integrated_s = cell.value();
  if (quantity.starts_with(kFlag)) {
    const std::optional<Flag> flag = enumerator_of<Flag>(kFlagNames, quantity.substr(kFlag.size()));
    if (flag) run.flags = changed(run.flags, *flag, cell.value() != 0.0);
  }
}

SamplesTable::SampledDevice* SamplesTable::device_named(std::string_view name,
                                                        std::string_view index,
                                                        std::string_view uuid) {
  const auto known = std::ranges::find_if(devices_, [&](const SampledDevice& device) {
    return device.name == name && device.uuid == uuid;
  });
  if (known != devices_.end()) return &*known;
  if (devices_.size() == kMostGpus || std::max(name.size(), uuid.size()) > kMostName) {
    return nullptr;
  }
  return &devices_.emplace_back(
      SampledDevice{.name = std::string(name),
                    .uuid = std::string(uuid),
                    .index = parse_unsigned<std::uint32_t>(index).value_or(0)});
}

std::string SamplesTable::unique_name(const SampledDevice& device, std::string name) const {
  const bool is_only_one = std::ranges::count(devices_, device.name, &SampledDevice::name) == 1;
  return is_only_one || device.uuid.empty() ? name : name + " " + device.uuid;
}

void SamplesTable::add(EnergySums& sum, const EnergySums& run) noexcept {
  const bool was_empty = !sum.is_known && sum.length_s == 0.0;
  sum.is_known = sum.is_known || run.is_known;
  sum.energy_j += run.energy_j;
  sum.has_uncertainty = (was_empty || sum.has_uncertainty) && run.has_uncertainty;
  UncertaintySum errors;
  errors.add(Joules(sum.uncertainty_j), sum.common());
  errors.add(Joules(run.uncertainty_j), run.common());
  sum.uncertainty_j = errors.uncertainty().si();
  sum.common_j = errors.common().si();
  sum.unknown_s += run.is_known ? run.unknown_s : run.length_s;
  sum.integrated_s += run.integrated_s;
  sum.length_s += run.length_s;
  sum.flags |= run.flags;
}

SamplesTable::EnergySums SamplesTable::total_of(const SampledDevice& device) const noexcept {
  EnergySums sum = device.ended.empty() ? EnergySums{} : device.ended.front();
  if (device.run.length_s > 0.0) add(sum, ended_run(device, now_));
  return sum;
}

void SamplesTable::add_device(SamplesResult& result, EnergySum& machine,
                              const SampledDevice& device) const {
  const std::string name = unique_name(device, device.name);
  const DomainKind kind = kind_of_device(device.name);
  const EnergySums sum = total_of(device);
  const double known_s = sum.length_s - sum.unknown_s;
  MeasuredEnergy energy{.uncertainty = Joules(sum.uncertainty_j),
                        .common = sum.common(),
                        .unknown = Seconds(sum.unknown_s),
                        .flags = sum.flags};
  std::optional<Watts> mean;
  if (sum.is_known) energy.energy = Joules(sum.energy_j);
  if (sum.is_known && known_s > 0.0) mean = Watts(sum.energy_j / known_s);
  if (sum.is_known && counts_in_total(kind)) {
    machine.add(energy);
    result.machine.energy_covers.push_back(name);
  }
  if (category_of(kind) != DomainCategory::gpu) {
    if (sum.length_s > 0.0) {
      result.domains.push_back({.name = name, .energy = energy, .mean_power = mean});
    }
    return;
  }
  // NVIDIA's are called by their numbers, as in every other table of theirs.
  GpuSummary gpu{device.spreads.figures(), kind == DomainKind::nvidia_gpu
                                               ? unique_name(device, std::to_string(device.index))
                                               : name};
  gpu.set_energy(energy, sum.integrated_s > 0.0 ? Method::integrated : Method::counter);
  if (!sum.has_uncertainty) gpu.energy_uncertainty.reset();
  // That of a window as short as the sensor's own says less than the rows.
  const bool is_mean_known = mean && energy.uncertainty <= *energy.energy;
  if (is_mean_known) gpu.power_watts_mean = mean->si();
  result.gpus.gpus.push_back(std::move(gpu));
}

std::string SamplesTable::why_missing(const SampledDevice& device) const {
  const EnergySums sum = total_of(device);
  // A device whose energy no row is about has none of its own: a GPU inside of a processor.
  if (sum.length_s == 0.0 || not_measured_.contains(device.name)) return {};
  if (sum.is_known) return {};
  return fmt::format("{}: {}", unique_name(device, device.name), why_unknown(sum.flags));
}

bool SamplesTable::add_missing_of(std::string_view kind,
                                  std::vector<MissingEnergy>& missing) const {
  const auto is_of_kind = [&](std::string_view name) {
    return traits_of(kind_of_device(name)).in_total == kind;
  };
  for (const auto& [name, reason] : not_measured_) {
    const std::string subject = name == kind ? "" : name + ": ";
    if (name != kind && !is_of_kind(name)) continue;
    missing.push_back({std::string(kind), subject + reason});
  }
  bool is_covered = false;
  for (const SampledDevice& device : devices_) {
    if (!is_of_kind(device.name)) continue;
    is_covered = is_covered || total_of(device).is_known;
    if (std::string reason = why_missing(device); !reason.empty()) {
      missing.push_back({std::string(kind), std::move(reason)});
    }
  }
  return is_covered;
}

std::vector<MissingEnergy> SamplesTable::total_missing() const {
  std::vector<MissingEnergy> missing;
  bool has_cpu = false;  // the first of the kinds
  for (const std::string_view kind : kKindsInTotal) {
    const std::size_t before = missing.size();
    const bool is_covered = add_missing_of(kind, missing);
    has_cpu = has_cpu || (is_covered && kind == "cpu");
    if (missing.size() == before && !is_covered) {
      missing.push_back({std::string(kind),
                         rows() == 0 ? "there are no rows of hw_samples.csv, which has the energy"
                                     : std::string(why_no_sensor(kind, has_cpu))});
    }
  }
  return missing;
}

SamplesResult SamplesTable::result() const {
  SamplesResult result;
  GpuStatistics all;
  EnergySum machine(Seconds(0));  // of what is known alone: `total_missing` has the rest
  for (const SampledDevice& device : devices_) {
    if (category_of(kind_of_device(device.name)) == DomainCategory::gpu) all.add(device.spreads);
    add_device(result, machine, device);
  }
  result.machine.energy = machine.result();
  result.gpus.all = all.figures();
  sum_energies(result.gpus);
  WeightedStatistics powers;
  for (const GpuSummary& gpu : result.gpus.gpus) {
    if (gpu.power_watts_mean) {
      powers.add(Cell(*gpu.power_watts_mean));
    }
  }
  result.gpus.all.power_watts_mean = powers.mean();
  result.machine.peak_memory_bytes = whole_bytes(peak_memory_);
  result.machine.memory_bytes = whole_bytes(memory_);
  result.machine.disk_read_bytes = whole_bytes(grown_[0].sum);
  result.machine.disk_written_bytes = whole_bytes(grown_[1].sum);
  result.machine.network_received_bytes = whole_bytes(grown_[2].sum);
  result.machine.network_sent_bytes = whole_bytes(grown_[3].sum);
  result.machine.total_missing = total_missing();
  result.cpu_user_percent = cpu_user_.mean();
  result.cpu_idle_percent = cpu_idle_.mean();
  return result;
}

}  // namespace wattle
