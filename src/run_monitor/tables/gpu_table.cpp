#include "run_monitor/tables/gpu_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <span>
#include <utility>

#include "base/text/split.hpp"
#include "base/text/text.hpp"

namespace wattle {
namespace {

constexpr const char* kNoTimes =
    "which GPU a row is of is unknown (no column index or uuid, and no times): no figures per "
    "GPU, no energy";

constexpr const char* kTooFewRows =
    "a GPU that left or came has too few rows for its energy, and which rows are its own is "
    "unknown: no figures per GPU, no energy; log with --query-gpu=index,...";

constexpr const char* kMixedNames =
    "some rows name their GPU and others do not (a later header has other columns): no figures per "
    "GPU, no energy; split the file at that header";

/// The same for a name in all its spellings: tools differ in the case of UUIDs, in the zeros at the
/// start of PCI addresses and serial numbers, and make a floating-point number of an index.
std::string spelling_of(std::string_view key) {
  std::string text = lower(key);
  text.erase(0, std::min(text.find_first_not_of('0'), text.size()));
  if (text.find_first_not_of("0123456789") + 2 == text.size() && text.ends_with(".0")) {
    text.resize(text.size() - 2);
  }
  return text;
}

}  // namespace

void GpuCsv::take(std::string_view line) {
  const bool may_be_header = !line.empty() && !is_digit(line[0]);
  const bool had_names = has_names();
  if (may_be_header && reader_.take_header(line)) {
    mixes_names_ = mixes_names_ || (readable_ > 0 && had_names != has_names());
    return;
  }
  take_row(line);
}

void GpuCsv::take_damaged() {
  if (!guesses_gpus()) {
    RowCounts::take_damaged();
    return;
  }
  assigner_.next_row() = {};
  if (assigner_.add()) give_rows();
}

void GpuCsv::note_bad_row(std::string_view line) {
  note_bad([&] { return reader_.why_bad(line); });
}

void GpuCsv::take_row(std::string_view line) {
  if (!guesses_gpus()) return take_named(line);
  GpuRow& row = assigner_.next_row();
  reader_.read(line, row);
  note_row(row, line);
  if (assigner_.add()) give_rows();
}

void GpuCsv::give_rows() { assigner_.give(counting()); }

/// A row whose GPU is named, or the only one, or unknown.
void GpuCsv::take_named(std::string_view line) {
  const GpuRow row = reader_.read(line);
  note_row(row, line);
  if (has_names()) {
    CsvGpu* const gpu = row.is_good() ? named_gpu() : nullptr;
    if (gpu != nullptr && !reader_.is_unique()) gpu->shared.add(row);
    count(gpu, row);
    return;
  }
  lacks_time_ = lacks_time_ || (row.whole && !reader_.has_time());
  count(row.is_good() ? gpu_at(0) : nullptr, row);
}

RowAssigner::TakeRows GpuCsv::counting() {
  return [this](std::span<const GpuRow> rows) {
    for (const GpuRow& row : rows) count_assigned(row);
  };
}

void GpuCsv::count_assigned(const GpuRow& row) {
  if (!row.track && row.whole) return count_unassigned(row);
  const bool is_used = row.track && row.is_good();
  count(is_used ? gpu_at(*row.track) : nullptr, row);
}

/// It is true of the machine, if not of a known GPU.
void GpuCsv::count_unassigned(const GpuRow& row) {
  if (!first_unassigned_ms_) first_unassigned_ms_ = row.time_ms;
  last_unassigned_ms_ = row.time_ms;
  count_row(row.is_good());
  if (!row.is_good()) return;
  ++unassigned_rows_;
  unassigned_.add(row, std::nullopt);
  for (CsvGpu& gpu : gpus_) gpu.between.powers.add(row.power);
}

void GpuCsv::count(CsvGpu* gpu, const GpuRow& row) {
  count_row(gpu != nullptr);
  if (gpu == nullptr) return;
  if (row.time_ms) {
    if (gpu->counted_order != row.order) note_break(*gpu, row);
    gpu->counted_order = row.order;
    gpu->counted_ms = *row.time_ms;
  }
  gpu->between.rows = rows() - std::exchange(gpu->counted_rows, rows()) - 1;
  if (gpu->has_pace) {
    add(*gpu, row, gpu->between);
    gpu->between.powers.are_some = false;
    return;
  }
  gpu->early.emplace_back(row, std::exchange(gpu->between, {}));
  if (gpu->early.size() > RowGaps::kRecent) settle(*gpu);
}

/// After it the rows of a GPU may be those of another one: what no GPU has of this time, all of
/// them may lack.
void GpuCsv::note_break(const CsvGpu& gpu, const GpuRow& row) noexcept {
  if (gpu.counted_ms == 0) return;
  const std::int64_t end_ms = *row.time_ms;
  const std::int64_t length_ms = end_ms - gpu.counted_ms;
  if (break_.order != row.order) {
    breaks_beyond_ms_ += break_.beyond_ms();
    break_ = {.order = row.order, .begin_ms = gpu.counted_ms, .end_ms = end_ms};
  }
  break_.begin_ms = std::min(break_.begin_ms, gpu.counted_ms);
  break_.end_ms = std::max(break_.end_ms, end_ms);
  break_.longest_ms = std::max(break_.longest_ms, length_ms);
}

/// The reference for the first rows is known only after some more.
void GpuCsv::settle(CsvGpu& gpu) const {
  std::vector<std::int64_t> times_ms;
  for (const auto& [row, between] : gpu.early) {
    if (row.time_ms) times_ms.push_back(*row.time_ms);
  }
  gpu.gaps.learn(times_ms);
  gpu.has_pace = true;
  for (const auto& [row, between] : std::exchange(gpu.early, {})) add(gpu, row, between);
}

bool GpuCsv::stopped_alone(const RowGaps::RowGap& gap, const RowsBetween& between) const noexcept {
  // Where all stopped, each of the others has one row in between.
  return gap.lacks_rows() && has_names() && between.rows > gpus_.size();
}

void GpuCsv::add(CsvGpu& gpu, const GpuRow& row, const RowsBetween& between) const {
  // Without times all rows count the same.
  std::optional<double> weight = 1.0;
  if (row.time_ms) {
    if (!gpu.first_ms) gpu.first_ms = row.time_ms;
    gpu.last_ms = *row.time_ms;
    if (std::exchange(gpu.order, row.order) != row.order) gpu.gaps.break_off();
    RowGaps::RowGap gap = gpu.gaps.next(*row.time_ms);
    if (stopped_alone(gap, between)) gap.kind = RowGaps::GapKind::pause;
    if (gap.length_ms < 0) note_back(gpu, gap, *row.time_ms);
    weight = gap.weight();
    gpu.power.add(*row.time_ms, gap, row.power, between.powers);
  }
  gpu.spreads.add(row, weight);
}

/// Local time goes back by an hour in autumn. Tables of two machines, or of one run, one after the
/// other in a file, start again near the first time.
void GpuCsv::note_back(CsvGpu& gpu, const RowGaps::RowGap& gap, std::int64_t time_ms) noexcept {
  constexpr std::int64_t kHourMs = 3'600'000;
  constexpr std::int64_t kFewestRows = 20;
  const std::int64_t pace_ms = gpu.gaps.pace_ms();
  const std::int64_t first_ms = gpu.first_ms.value_or(time_ms);
  const std::int64_t length_ms = time_ms - gap.length_ms - first_ms;
  const bool is_hour = std::abs(gap.length_ms + kHourMs) < 10 * pace_ms;
  const bool is_short = length_ms < kFewestRows * pace_ms;
  if (!is_hour && !is_short && std::abs(time_ms - first_ms) * 10 < length_ms) {
    gpu.starts_again = true;
  }
}

GpuCsv::CsvGpu* GpuCsv::new_gpu_at(std::size_t place) {
  while (place >= gpus_.size()) {
    if (gpus_.size() == kMostGpus) return nullptr;
    gpus_.emplace_back(CsvGpu{.name = std::to_string(gpus_.size())});
  }
  return &gpus_[place];
}

void GpuCsv::end() {
  assigner_.end(counting());
  for (CsvGpu& gpu : gpus_) {
    if (!gpu.has_pace) settle(gpu);
  }
}

/// A device is its UUID: two of a number are of two machines, or were renumbered.
GpuCsv::CsvGpu* GpuCsv::named_gpu() {
  constexpr std::size_t kMostBytes = 80;  // a UUID has 40
  const std::string_view number = reader_.index();
  const std::string_view id = reader_.uuid();
  std::string_view key = id.empty() ? number : id;
  std::string of_place;
  if (const std::string_view place = reader_.place(); !id.empty() && !place.empty()) {
    of_place.append(id).append(" ").append(place);
    key = of_place;
  }
  if (key.empty()) return nullptr;
  const bool has_host = reader_.has_host() && !reader_.is_unique();
  const std::string_view host = has_host ? reader_.host() : std::string_view();
  if (!host.empty()) {
    of_place = fmt::format("{}:{}", host, key);
    key = of_place;
  }
  if (key.size() > kMostBytes || number.size() > kMostBytes) return nullptr;
  const auto known = std::ranges::find(gpus_, key, &CsvGpu::key);
  if (known != gpus_.end()) return &*known;
  if (CsvGpu* const same = same_gpu(key, number)) return same;
  if (gpus_.size() == kMostGpus) return nullptr;
  return &gpus_.emplace_back(
      CsvGpu{.key = std::string(key),
             .name = std::string(number.empty() || !host.empty() ? key : number),
             .spelling = spelling_of(key)});
}

GpuCsv::CsvGpu* GpuCsv::same_gpu(std::string_view key, std::string_view number) {
  const std::string spelling = spelling_of(key);
  const auto known = std::ranges::find(gpus_, spelling, &CsvGpu::spelling);
  if (known != gpus_.end()) return &*known;
  if (number.empty() || !reader_.is_unique()) return nullptr;
  const auto by_number = std::ranges::find(gpus_, number, &CsvGpu::key);
  if (by_number == gpus_.end()) return nullptr;
  by_number->key = key;
  by_number->spelling = spelling;
  return &*by_number;
}

std::string GpuCsv::name_of(std::size_t gpu) const {
  const CsvGpu& it = gpus_[gpu];
  if (!has_names()) return std::to_string(assigner_.place_of(gpu).value_or(gpu));
  const bool is_only_one = std::ranges::count(gpus_, it.name, &CsvGpu::name) == 1;
  return is_only_one || it.name == it.key ? it.name : it.name + " " + it.key;
}

std::string GpuCsv::gpus_by() const {
  if (has_names()) return std::string(reader_.id_column());
  if (!reader_.has_time()) return {};
  std::string order = "order of rows";
  if (expected_) {
    order += expected_->is_given ? ", --gpus-in-file" : ", their number from hw_dmon.csv";
  }
  return order;
}

Seconds GpuCsv::absence_of(std::size_t gpu) const {
  const CsvGpu& it = gpus_[gpu];
  if (!it.first_ms || !first_ms_) return Seconds(0);
  const std::int64_t pace_ms = it.gaps.pace_ms();
  // A table may start and end between the rows of two GPUs. A GPU has no row in the first round if
  // one before it in the order of a round has one, and none in the last one if one after it has.
  const auto place_of = [this](std::size_t i) {
    return has_names() ? i : assigner_.place_of(i).value_or(i);
  };
  bool is_late = (*it.first_ms - *first_ms_) * 2 > pace_ms * 3;
  bool is_gone = (last_ms_ - it.last_ms) * 2 > pace_ms * 3;
  if (first_unassigned_ms_) {
    is_late = is_late || (*it.first_ms - *first_unassigned_ms_) * 2 > pace_ms;
    is_gone = is_gone || (*last_unassigned_ms_ - it.last_ms) * 2 > pace_ms;
  }
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    const CsvGpu& other = gpus_[i];
    if (!other.first_ms || i == gpu) continue;
    const bool is_before = place_of(i) < place_of(gpu);
    is_late = is_late || (is_before && (*it.first_ms - *other.first_ms) * 2 > pace_ms);
    is_gone = is_gone || (!is_before && (other.last_ms - it.last_ms) * 2 > pace_ms);
  }
  const std::int64_t absent_ms =
      (is_late ? *it.first_ms - *first_ms_ : 0) + (is_gone ? last_ms_ - it.last_ms : 0);
  return Seconds(static_cast<double>(absent_ms) * 1e-3);
}

std::string GpuCsv::shared_number() const {
  for (const CsvGpu& gpu : gpus_) {
    const std::string evidence = gpu.shared.evidence();
    if (evidence.empty()) continue;
    const bool is_number = reader_.has_index() && gpu.key == gpu.name;
    return fmt::format(
        "the rows of {} {} are of more than one GPU ({}): no figures per GPU, no energy; log with "
        "--query-gpu=uuid,...",
        is_number ? "index" : reader_.id_column(), printable(gpu.key), evidence);
  }
  return {};
}

std::string GpuCsv::why_mixed() const {
  if (is_for_one_gpu_) return {};
  if (mixes_names_) return kMixedNames;
  const auto again = std::ranges::find_if(gpus_, &CsvGpu::starts_again);
  if (again == gpus_.end()) return shared_number();
  return fmt::format(
      "the rows{} start again at the time of the first ones: they are of two machines, or twice in "
      "the file: no figures per GPU, no energy; split the file",
      has_names() ? fmt::format(" of {} {}", reader_.id_column(), printable(again->name)) : "");
}

GpuTable GpuCsv::result() const {
  GpuStatistics all = unassigned_;
  for (const CsvGpu& gpu : gpus_) all.add(gpu.spreads);
  GpuTable table{.all = all.figures()};
  const RowAssigner::Outcome outcome =
      lacks_time_ ? RowAssigner::Outcome::unknown : assigner_.outcome();
  table.problem = lacks_time_ ? kNoTimes : assigner_.reason();
  table.gpus_by = gpus_by();
  table.unassigned_rows = unassigned_rows_;
  if (std::string mixed = why_mixed(); !mixed.empty()) {
    table.problem = std::move(mixed);
    return table;
  }
  if (outcome == RowAssigner::Outcome::unknown) return table;
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    const CsvGpu& gpu = gpus_[i];
    GpuSummary summary{gpu.spreads.figures(), name_of(i)};
    MeasuredEnergy energy = gpu.power.energy();
    if (const Seconds absence = absence_of(i); absence > Seconds(0)) {
      energy.unknown += absence;
      energy.flags.set(Flag::gap);
    }
    summary.set_energy(energy, Method::integrated);
    table.gpus.push_back(std::move(summary));
  }
  sum_energies(table);
  const std::int64_t beyond_ms = breaks_beyond_ms_ + break_.beyond_ms();
  table.all.energy_unknown += Seconds(static_cast<double>(beyond_ms) * 1e-3);
  const auto lacking = std::ranges::count_if(
      table.gpus, [](const GpuSummary& gpu) { return gpu.power_watts_mean && !gpu.energy; });
  const bool is_one_lacking = lacking > 0 && lacking < std::ssize(table.gpus);
  if (guesses_gpus() && is_one_lacking && table.problem.empty()) table.problem = kTooFewRows;
  if (outcome == RowAssigner::Outcome::total_only || table.problem == kTooFewRows) {
    table.gpus.clear();
  }
  return table;
}

}  // namespace wattle
