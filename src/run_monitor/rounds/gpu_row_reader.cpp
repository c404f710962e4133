#include "run_monitor/rounds/gpu_row_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <initializer_list>
#include <optional>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "run_monitor/tables/column_title.hpp"

namespace wattle {
namespace {

/// The library's "no value", 2^32 - 1 mW, as some tools print it: with and without digits after the
/// point.
constexpr double kNoPowerW = 4294967.0;
constexpr std::size_t kMostShown = 40;  // bytes of a cell in a message

/// Columns that name a GPU, the surest first.
constexpr std::array<std::string_view, 6> kIds = {"uuid",       "gpu_uuid",   "serial",
                                                  "gpu_serial", "pci.bus_id", "gpu_bus_id"};

/// A bit for each of the first `count` bytes, at most 64, that is a comma, the first byte in the
/// lowest one. `room`: bytes that may be read, `count` at least.
inline std::uint64_t commas_in(const char* bytes, std::size_t count, std::size_t room) noexcept {
  std::uint64_t commas = 0;
  std::size_t i = 0;
#ifdef __SSE2__
  constexpr std::size_t kStep = sizeof(__m128i);
  const auto of_step = [bytes](std::size_t begin) {
    __m128i block;
    std::memcpy(&block, bytes + begin, sizeof block);
    const __m128i found = _mm_cmpeq_epi8(block, _mm_set1_epi8(','));
    return std::uint64_t{static_cast<unsigned>(_mm_movemask_epi8(found))} << begin;
  };
  if (count <= kStep && room >= kStep) return of_step(0) & ~(~std::uint64_t{0} << count);
  if (room >= 4 * kStep) {
    commas = of_step(0) | of_step(kStep) | of_step(2 * kStep) | of_step(3 * kStep);
    return commas & (~std::uint64_t{0} >> (4 * kStep - count));
  }
  for (; i + kStep <= count; i += kStep) commas |= of_step(i);
  if (i != 0 && i < count) return commas | of_step(count - kStep);
#endif
  for (; i < count; ++i) commas |= std::uint64_t{bytes[i] == ',' ? 1U : 0U} << i;
  return commas;
}

/// A name may be in quotes in a table that has no others.
std::string_view unquoted(std::string_view cell) noexcept {
  std::string_view text = trimmed(cell);
  if (text.size() > 1 && text.front() == '"' && text.back() == '"') [[unlikely]] {
    text = trimmed(text.substr(1, text.size() - 2));
  }
  return text;
}

}  // namespace

// The first part is the short one: a time, which has no comma. So all commas are found in one part,
// and lines that are not equally long need as many steps.
void GpuRowReader::split(std::string_view line) noexcept {
  line_ = line.data();
  begins_[kNone + 1] = 1;
  std::size_t* begin = begins_.data();
  const std::size_t* const last = begin + kMostColumns;
  std::size_t size = (line.size() - 1) % kPartBytes + 1;
  for (std::size_t part = 0; part < line.size() && begin <= last;
       part += std::exchange(size, kPartBytes)) {
    std::uint64_t commas = commas_in(line.data() + part, size, line.size() - part);
    for (; commas != 0; commas &= commas - 1) {
      *++begin = part + static_cast<unsigned>(std::countr_zero(commas)) + 1;
    }
  }
  *++begin = line.size() + 1;
  count_ = std::min(static_cast<std::size_t>(begin - begins_.data()), kMostColumns + 1);
}

bool GpuRowReader::take_header(std::string_view line) {
  split(line);
  GpuColumns found{.count = count_,
                   .timestamp = kNone,
                   .util = {},
                   .mem_util = {},
                   .memory = {},
                   .memory_total = kNone,
                   .temperature = kNone};
  found.powers.fill({});
  if (found.count > kMostColumns) return false;
  std::array<ColumnTitle, kMostColumns> titles;
  for (std::size_t i = 0; i < found.count; ++i) titles.at(i) = column_title(cell(i));
  const auto place = [&](std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
      for (std::size_t i = 0; i < found.count; ++i) {
        if (titles.at(i).name == name) return i;
      }
    }
    return kNone;
  };
  std::string refused;
  bool is_header = false;
  const auto column = [&](std::string_view name, CellQuantity quantity) {
    GpuColumn figure{.place = place({name}), .unit = {.quantity = quantity}};
    if (figure.place == kNone) return figure;
    is_header = true;
    const auto unit = unit_of(titles.at(figure.place), quantity);
    if (unit) return GpuColumn{.place = figure.place, .unit = *unit};
    refused += refused.empty() ? "" : "; ";
    refused += unknown_unit_text(titles.at(figure.place), quantity);
    return GpuColumn{.place = kNone, .unit = figure.unit};
  };
  found.timestamp = place({"timestamp"});
  found.util = column("utilization.gpu", CellQuantity::share);
  found.mem_util = column("utilization.memory", CellQuantity::share);
  found.memory = column("memory.used", CellQuantity::memory);
  for (std::size_t i = 0; i < kPowers.size(); ++i) {
    found.powers.at(i) = column(kPowers.at(i), CellQuantity::power);
  }
  found.memory_total = place({"memory.total"});
  found.temperature = place({"temperature.gpu"});
  found.name = place({"name", "gpu_name"});
  found.index = place({"index"});
  found.host = place({"hostname", "host", "node", "nodename", "machine"});
  const auto* const id =
      std::ranges::find_if(kIds, [&](std::string_view name) { return place({name}) != kNone; });
  if (id != kIds.end()) {
    found.uuid = place({*id});
    found.id_name = *id;
  }
  if (found.id_name.ends_with("serial")) found.place = place({"pci.bus_id", "gpu_bus_id", "index"});
  if (!is_header && found.timestamp == kNone) return false;
  take_columns(found);
  refused_ = refused;
  return true;
}

void GpuRowReader::take_columns(const GpuColumns& found) {
  columns_ = found;
  has_header_ = true;
  has_figures_ = false;
  const std::array figures = {&columns_.util,         &columns_.mem_util,  &columns_.memory,
                              columns_.powers.data(), &columns_.powers[1], &columns_.powers[2]};
  for (GpuColumn* const figure : figures) {
    has_figures_ = has_figures_ || figure->place != kNone;
    figure->is_scaled = figure->unit.factor != UnitFactor{};
  }
  are_scaled_ = columns_.util.is_scaled || columns_.mem_util.is_scaled || columns_.memory.is_scaled;
  is_by_uuid_ = columns_.id_name.ends_with("uuid");
  has_other_powers_ = columns_.powers[1].place != kNone || columns_.powers[2].place != kNone;
}

void GpuRowReader::read(std::string_view line, GpuRow& row) noexcept {
  split(line);
  row.time_ms.reset();
  if (columns_.timestamp < count_ && times_.take(cell(columns_.timestamp))) {
    row.time_ms = times_.last_ms();
  }
  row.whole = count_ == columns_.count && has_figures() && (!has_time() || row.time_ms);
  if (!row.whole) {
    row = {.time_ms = row.time_ms};
    return;
  }
  std::array<double, 2> both{};
  if (take_two(columns_.util.place, columns_.mem_util.place, both)) {
    row.util = Cell(both[0]);
    row.mem_util = Cell(both[1]);
  } else {
    row.util = cell_of(columns_.util);
    row.mem_util = cell_of(columns_.mem_util);
  }
  if (take_two(columns_.memory.place, columns_.memory_total, both)) {
    row.memory = Cell(both[0]);
    row.memory_total = Cell(both[1]);
  } else {
    row.memory = cell_of(columns_.memory);
    row.memory_total = evidence_in(columns_.memory_total);
  }
  row.power = has_other_powers_ ? power() : cell_of(columns_.powers[0]);
  if (row.power.value_or(0.0) >= kNoPowerW) [[unlikely]] {
    if (row.power.value() < kNoPowerW + 1.0) row.power = {};
  }
  row.temperature = evidence_in(columns_.temperature);
  row.model = columns_.name == kNone ? 0 : model();
}

std::uint32_t GpuRowReader::model() const noexcept {
  const std::string_view name = trimmed(cell(columns_.name));
  return name.empty() ? 0 : static_cast<std::uint32_t>(hash_of(name));
}

/// The power in the first column that has one.
Cell GpuRowReader::power() noexcept {
  for (std::size_t i = 0; i < kPowers.size(); ++i) {
    const Cell power = cell_of(columns_.powers.at(i));
    if (power.is_missing()) continue;
    if (power.is_number()) ++power_rows_.at(i);
    return power;
  }
  return {};
}

std::string_view GpuRowReader::index() const noexcept { return unquoted(cell(columns_.index)); }
std::string_view GpuRowReader::host() const noexcept { return unquoted(cell(columns_.host)); }
std::string_view GpuRowReader::uuid() const noexcept {
  const std::string_view text = unquoted(cell(columns_.uuid));
  // [N/A]; and the 0 of boards without a serial number.
  const bool is_none =
      text.starts_with('[') || text.find_first_not_of('0') == std::string_view::npos;
  return is_none ? std::string_view() : text;
}
std::string_view GpuRowReader::place() const noexcept { return unquoted(cell(columns_.place)); }

std::string GpuRowReader::why_bad(std::string_view line) const {
  if (has_header_ && !has_figures()) {
    return refused_.empty()
               ? "the header names no column with a figure; expected: utilization.gpu, "
                 "utilization.memory, memory.used, power.draw"
               : refused_;
  }
  if (!has_header_ && !line.empty() && !is_digit(line.front())) {
    return "it is no row, and no header with a known column (timestamp, index, uuid, "
           "utilization.gpu, utilization.memory, memory.used, power.draw)";
  }
  if (count_ != columns_.count) {
    return has_header_ ? fmt::format("it has {}, and the header {}", counted(count_, "cell"),
                                     columns_.count)
                       : fmt::format("it has {}, and without a header {} are expected",
                                     counted(count_, "cell"), columns_.count);
  }
  if (has_time() && columns_.timestamp < count_) {
    const std::string_view text = trimmed(cell(columns_.timestamp));
    if (is_ambiguous_date(text)) {
      return fmt::format("'{}': which number is the day and which the month is unknown",
                         printable(text, kMostShown));
    }
    TimeReader times = times_;
    if (!times.read(text)) {
      return fmt::format(
          "'{}' is no time (known: 2026/03/02 09:15:00.000, ISO 8601, seconds since "
          "1970)",
          printable(text, kMostShown));
    }
  }
  return why_bad_cell();
}

std::string GpuRowReader::why_bad_cell() const {
  struct Named {
    std::string_view name;
    const GpuColumn* column;
    std::string_view unit;
  };
  const std::array figures = {Named{"utilization.gpu", &columns_.util, "0 to 100 %"},
                              Named{"utilization.memory", &columns_.mem_util, "0 to 100 %"},
                              Named{"memory.used", &columns_.memory, "a number of MiB"},
                              Named{kPowers[0], columns_.powers.data(), "a number of W"},
                              Named{kPowers[1], &columns_.powers[1], "a number of W"},
                              Named{kPowers[2], &columns_.powers[2], "a number of W"}};
  for (const Named& figure : figures) {
    const Cell content = cell_of(*figure.column);
    const bool is_of_100 = figure.column->unit.quantity == CellQuantity::share;
    if (!content.is_bad() && (!is_of_100 || is_share(content))) continue;
    return fmt::format("{} is '{}', not {}{}", figure.name,
                       printable(trimmed(cell(figure.column->place)), kMostShown), figure.unit,
                       figure.column->unit.is_stated ? " in the unit of the header" : "");
  }
  return "whose row it is is unknown";
}

std::string GpuRowReader::note() const {
  std::string text = refused_;
  std::uint64_t all = 0;
  for (const std::uint64_t rows : power_rows_) all += rows;
  for (std::size_t i = 1; i < kPowers.size(); ++i) {
    if (power_rows_.at(i) == 0) continue;
    text += text.empty() ? "" : "; ";
    text += fmt::format("power is {}", kPowers.at(i));
    if (power_rows_.at(i) < all) {
      text += fmt::format(" in {} of {} rows", power_rows_.at(i), all);
    }
    if (columns_.powers[0].place != kNone) text += ": power.draw has no value there";
  }
  return text;
}

}  // namespace wattle
