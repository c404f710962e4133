#include "hardware/gpu_table.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>

#include "base/parse.hpp"

namespace wattle {
namespace {

/// The digits of `text` from `at` on, which are `count`; absent where another character is there.
std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) noexcept {
  int value = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

/// "2026/11/21 01:50:" as milliseconds.
std::optional<std::int64_t> minute_of(std::string_view text) noexcept {
  const auto year = digits(text, 0, 4);
  const auto month = digits(text, 5, 2);
  const auto day = digits(text, 8, 2);
  const auto hour = digits(text, 11, 2);
  const auto minute = digits(text, 14, 2);
  if (!year || !month || !day || !hour || !minute) return std::nullopt;
  if (text[4] != '/' || text[7] != '/' || text[10] != ' ' || text[13] != ':' || text[16] != ':' ||
      *hour > 23 || *minute > 59) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  const auto time = std::chrono::sys_days(date).time_since_epoch() + std::chrono::hours(*hour) +
                    std::chrono::minutes(*minute);
  return std::chrono::milliseconds(time).count();
}

constexpr std::size_t kWordBytes = sizeof(std::uint64_t);

/// The highest bit of each byte that is a comma, the first byte in the lowest ones.
std::uint64_t commas_in(const char* bytes) noexcept {
  constexpr std::uint64_t kEach = 0x0101010101010101;
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  word ^= kEach * ',';  // now a comma is a zero
  const std::uint64_t low_bits = (word & kEach * 0x7F) + kEach * 0x7F;
  return ~(low_bits | word) & kEach * 0x80;
}

/// The name of a column: without its unit, "power.draw [W]".
std::string_view column_name(std::string_view cell) noexcept {
  return trimmed(cell.substr(0, cell.find('[')));
}

}  // namespace

std::optional<std::int64_t> TableTime::parse(std::string_view text) noexcept {
  constexpr std::size_t kLength = 23;
  if (text.size() != kLength || text[19] != '.') return std::nullopt;
  const std::optional<int> second = digits(text, 17, 2);
  const std::optional<int> milliseconds = digits(text, 20, 3);
  if (!second || *second > 60 || !milliseconds) return std::nullopt;
  if (std::memcmp(text.data(), minute_.data(), kMinuteLength) != 0) {
    const std::optional<std::int64_t> minute = minute_of(text);
    if (!minute) return std::nullopt;
    std::memcpy(minute_.data(), text.data(), kMinuteLength);
    minute_ms_ = *minute;
  }
  return minute_ms_ + std::int64_t{*second} * 1000 + *milliseconds;
}

void GpuCsv::take(std::string_view line) {
  const bool may_be_header = !line.empty() && (line[0] < '0' || line[0] > '9');
  if (may_be_header && take_header(line)) return;
  if (take_row(line)) {
    ++rows_;
  } else {
    ++bad_rows_;
  }
}

void GpuCsv::take_damaged() noexcept {
  ++bad_rows_;
  move_on(std::nullopt, false);
}

std::size_t GpuCsv::split(std::string_view line) noexcept {
  std::size_t count = 0;
  std::size_t begin = 0;
  const auto end_cell = [&](std::size_t end) {
    if (count < kMostColumns) cells_[count] = line.substr(begin, end - begin);
    count += count <= kMostColumns ? 1 : 0;
    begin = end + 1;
  };
  std::size_t i = 0;
  for (; i + kWordBytes <= line.size(); i += kWordBytes) {
    for (std::uint64_t commas = commas_in(line.data() + i); commas != 0; commas &= commas - 1) {
      end_cell(i + static_cast<std::size_t>(std::countr_zero(commas)) / 8);
    }
  }
  for (; i < line.size(); ++i) {
    if (line[i] == ',') end_cell(i);
  }
  end_cell(line.size());
  cells_[kNone] = {};
  return count;
}

bool GpuCsv::take_header(std::string_view line) {
  Columns found{.count = split(line),
                .timestamp = kNone,
                .util = kNone,
                .mem_util = kNone,
                .memory = kNone,
                .power = kNone};
  if (found.count > kMostColumns) return false;
  const auto column = [&](std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
      for (std::size_t i = 0; i < found.count; ++i) {
        if (column_name(cells_[i]) == name) return i;
      }
    }
    return kNone;
  };
  found.timestamp = column({"timestamp"});
  found.util = column({"utilization.gpu"});
  found.mem_util = column({"utilization.memory"});
  found.memory = column({"memory.used"});
  found.power = column({"power.draw", "power.draw.average", "power.draw.instant"});
  found.index = column({"index"});
  found.uuid = column({"uuid", "gpu_uuid"});
  const bool is_header = found.timestamp != kNone || found.util != kNone || found.memory != kNone ||
                         found.power != kNone;
  if (is_header) columns_ = found;
  return is_header;
}

bool GpuCsv::take_row(std::string_view line) {
  const std::size_t count = split(line);
  std::optional<std::int64_t> time_ms;
  if (columns_.timestamp < count) time_ms = time_.parse(trimmed(cells_[columns_.timestamp]));
  const bool whole = count == columns_.count && (columns_.timestamp == kNone || time_ms);
  move_on(time_ms, whole);
  if (!whole || (doubtful_moments_ > 0 && !has_names())) return false;
  const Cell util = parse_cell(cells_[columns_.util]);
  const Cell mem_util = parse_cell(cells_[columns_.mem_util]);
  const Cell memory = parse_cell(cells_[columns_.memory]);
  const Cell power = parse_cell(cells_[columns_.power]);
  if (!is_share(util) || !is_share(mem_util) || memory.is_bad() || power.is_bad()) return false;
  Gpu* const known = gpu();
  if (known == nullptr) return false;
  known->spreads.util.add(util);
  known->spreads.mem_util.add(mem_util);
  known->spreads.memory_mib.add(memory);
  known->spreads.power_w.add(power);
  if (time_ms) known->power.add(*time_ms, power);
  return true;
}

void GpuCsv::move_on(std::optional<std::int64_t> time_ms, bool whole) noexcept {
  if (has_names()) return;
  if (time_ms) {
    const bool is_next = time_ms != last_ms_;
    place_ = is_next ? 0 : place_ + 1;
    if (is_next && doubtful_moments_ > 0) --doubtful_moments_;
    if (last_ms_) watch_gap(*time_ms - *last_ms_);
    last_ms_ = time_ms;
  }
  // Of one GPU alone each moment is one row.
  if (!whole && columns_.timestamp != kNone && gpus_.size() > 1) doubtful_moments_ = 2;
}

GpuCsv::Gpu* GpuCsv::gpu() {
  if (has_names()) {
    return gpu_named(trimmed(cells_[columns_.index != kNone ? columns_.index : columns_.uuid]));
  }
  by_place_ = true;
  lacks_time_ = lacks_time_ || columns_.timestamp == kNone;
  while (place_ >= gpus_.size()) {
    if (gpus_.size() == kMostGpus) return nullptr;
    gpus_.emplace_back(Gpu{.name = std::to_string(gpus_.size())});
  }
  return &gpus_[place_];
}

GpuCsv::Gpu* GpuCsv::gpu_named(std::string_view name) {
  constexpr std::size_t kMostBytes = 80;  // a UUID has 40
  if (name.empty() || name.size() > kMostBytes) return nullptr;
  const auto known = std::ranges::find(gpus_, name, &Gpu::name);
  if (known != gpus_.end()) return &*known;
  if (gpus_.size() == kMostGpus) return nullptr;
  return &gpus_.emplace_back(Gpu{.name = std::string(name)});
}

void GpuCsv::watch_gap(std::int64_t gap_ms) noexcept {
  if (gap_ms <= 0) return;
  ++gaps_;
  gaps_ms_ += gap_ms;
  const double mean_ms = static_cast<double>(gaps_ms_) / static_cast<double>(gaps_);
  if (static_cast<double>(gap_ms) * 4.0 < mean_ms) ++short_gaps_;
}

GpuTable GpuCsv::result() const {
  GpuSpreads all;
  for (const Gpu& gpu : gpus_) all.add(gpu.spreads);
  GpuTable table{.all = all.figures()};
  if (by_place_ && (lacks_time_ || comes_in_bursts())) {
    table.problem =
        "which GPU a row is of is not known (no column index or uuid, and no common time of the "
        "rows "
        "of one moment): no figures per GPU, no energy";
    return table;
  }
  Joules energy;
  bool known = !gpus_.empty();
  for (const Gpu& gpu : gpus_) {
    GpuSummary summary{gpu.spreads.figures(), gpu.name};
    summary.energy = gpu.power.energy();
    summary.energy_unknown = gpu.power.unknown();
    known = known && summary.energy.has_value();
    energy += summary.energy.value_or(Joules(0.0));
    table.all.energy_unknown = std::max(table.all.energy_unknown, summary.energy_unknown);
    table.gpus.push_back(std::move(summary));
  }
  if (known) table.all.energy = energy;
  return table;
}

}  // namespace wattle
