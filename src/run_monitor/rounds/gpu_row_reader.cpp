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

constexpr std::size_t kMostShown = 40;  // bytes of a cell in a message

/// Columns that name a GPU, the surest first.
constexpr std::array<std::string_view, 6> kIds = {"uuid",       "gpu_uuid",   "serial",
                                                  "gpu_serial", "pci.bus_id", "gpu_bus_id"};

constexpr std::size_t kMaskBits = 64;

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
  if (room >= kMaskBits) {
    commas = of_step(0) | of_step(kStep) | of_step(2 * kStep) | of_step(3 * kStep);
    return commas & (~std::uint64_t{0} >> (kMaskBits - count));
  }
  for (; i + kStep <= count; i += kStep) commas |= of_step(i);
  if (i != 0 && i < count) return commas | of_step(count - kStep);
#endif
  for (; i < count; ++i) commas |= std::uint64_t{bytes[i] == ',' ? 1U : 0U} << i;
  return commas;
}

}  // namespace

// The first part is the short one: a time, which has no comma. So all commas are found in one part,
// and lines that are not equally long need as many steps.
std::size_t GpuRowReader::split(std::string_view line) noexcept {
  const char* begin = line.data();
  const char* const end = begin + line.size();
  std::string_view* cell = cells_.data();
  const std::string_view* const last = cell + kMostColumns;
  cells_[kNone] = {};
  std::size_t count = (line.size() - 1) % kMaskBits + 1;
  for (const char* part = line.data(); part < end; part += std::exchange(count, kMaskBits)) {
    const auto room = static_cast<std::size_t>(end - part);
    for (std::uint64_t commas = commas_in(part, count, room); commas != 0; commas &= commas - 1) {
      if (cell == last) return kMostColumns + 1;
      const char* const comma = part + std::countr_zero(commas);
      *cell++ = std::string_view(begin, static_cast<std::size_t>(comma - begin));
      begin = comma + 1;
    }
  }
  if (cell == last) return kMostColumns + 1;
  *cell++ = std::string_view(begin, static_cast<std::size_t>(end - begin));
  return static_cast<std::size_t>(cell - cells_.data());
}

bool GpuRowReader::take_header(std::string_view line) {
  GpuColumns found{.count = split(line),
                   .timestamp = kNone,
                   .util = {},
                   .mem_util = {},
                   .memory = {},
                   .memory_total = kNone,
                   .temperature = kNone};
  found.powers.fill({});
  if (found.count > kMostColumns) return false;
  std::array<ColumnTitle, kMostColumns> titles;
  for (std::size_t i = 0; i < found.count; ++i) titles.at(i) = column_title(cells_.at(i));
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
  const auto* const id =
      std::ranges::find_if(kIds, [&](std::string_view name) { return place({name}) != kNone; });
  if (id != kIds.end()) {
    found.uuid = place({*id});
    found.id_name = *id;
  }
  if (found.id_name.ends_with("serial")) found.place = place({"pci.bus_id", "gpu_bus_id", "index"});
  if (!is_header && found.timestamp == kNone) return false;
  columns_ = found;
  has_header_ = true;
  has_other_powers_ = found.powers[1].place != kNone || found.powers[2].place != kNone;
  has_figures_ =
      found.util.place != kNone || found.mem_util.place != kNone || found.memory.place != kNone ||
      std::ranges::any_of(found.powers, [](const GpuColumn& c) { return c.place != kNone; });
  refused_ = refused;
  return true;
}

void GpuRowReader::read(std::string_view line, GpuRow& row) noexcept {
  count_ = split(line);
  row.time_ms.reset();
  if (columns_.timestamp < count_) {
    const std::string_view time = cells_[columns_.timestamp];
    const bool is_trimmed = !time.empty() && is_digit(time.front()) && is_digit(time.back());
    std::int64_t time_ms = 0;
    if (times_.take(is_trimmed ? time : trimmed(time), time_ms)) row.time_ms = time_ms;
  }
  row.whole = count_ == columns_.count && has_figures() && (!has_time() || row.time_ms);
  if (!row.whole) {
    row = {.time_ms = row.time_ms};
    return;
  }
  row.util = cell_of(columns_.util);
  row.mem_util = cell_of(columns_.mem_util);
  row.memory = cell_of(columns_.memory);
  row.power = has_other_powers_ ? power() : cell_of(columns_.powers[0]);
  if (!has_uuid()) add_evidence(row);
}

void GpuRowReader::add_evidence(GpuRow& row) const noexcept {
  row.memory_total = parse_cell(cells_[columns_.memory_total], has_room(columns_.memory_total));
  row.temperature = parse_cell(cells_[columns_.temperature], has_room(columns_.temperature));
  row.model = 0;
  if (columns_.name == kNone) return;
  const std::string_view name = trimmed(cells_[columns_.name]);
  row.model = name.empty() ? 0 : static_cast<std::uint32_t>(hash_of(name));
}

/// The power in the first column that has one.
Cell GpuRowReader::power() noexcept {
  for (std::size_t i = 0; i < kPowers.size(); ++i) {
    const Cell power = cell_of(columns_.powers.at(i));
    if (power.kind == Cell::CellKind::missing) continue;
    if (power.is_number()) ++power_rows_.at(i);
    return power;
  }
  return {};
}

std::string_view GpuRowReader::index() const noexcept { return trimmed(cells_[columns_.index]); }
std::string_view GpuRowReader::uuid() const noexcept {
  const std::string_view text = trimmed(cells_[columns_.uuid]);
  // [N/A]; and the 0 of boards without a serial number.
  const bool is_none =
      text.starts_with('[') || text.find_first_not_of('0') == std::string_view::npos;
  return is_none ? std::string_view() : text;
}
std::string_view GpuRowReader::place() const noexcept { return trimmed(cells_[columns_.place]); }

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
    const std::string_view text = trimmed(cells_.at(columns_.timestamp));
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
    const Cell cell = cell_of(*figure.column);
    const bool is_of_100 = figure.column->unit.quantity == CellQuantity::share;
    if (!cell.is_bad() && (!is_of_100 || is_share(cell))) continue;
    return fmt::format("{} is '{}', not {}{}", figure.name,
                       printable(trimmed(cells_.at(figure.column->place)), kMostShown), figure.unit,
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
