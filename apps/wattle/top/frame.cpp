#include "top/frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/text/unknown.hpp"
#include "report/estimate_words.hpp"
#include "top/columns.hpp"
#include "top/device_table.hpp"

namespace wattle::app {
namespace {

/// Lines for a screen, each cut to its width.
class ScreenLines {
 public:
  ScreenLines(ScreenSize size, const TextStyle& style) : size_(size), style_(style) {}

  void add(std::string_view text) {
    all_.push_back(cut(to_style_characters(text, style_), size_.columns));
  }
  void add(std::string_view text, Tint tint) {
    add(text);
    all_.back() = colored(all_.back(), tint, style_);
  }
  void add_made(std::vector<std::string> lines) {
    for (std::string& line : lines) all_.push_back(std::move(line));
  }
  [[nodiscard]] std::size_t count() const noexcept { return all_.size(); }
  [[nodiscard]] std::size_t left() const noexcept {
    return size_.lines - std::min(size_.lines, all_.size());
  }
  /// Exactly as many as the screen has.
  [[nodiscard]] std::vector<std::string> take() {
    all_.resize(size_.lines);
    return std::move(all_);
  }

 private:
  ScreenSize size_;
  const TextStyle& style_;
  std::vector<std::string> all_{};
};

std::string screen_title(const TopObservation& seen, const TopView& view) {
  std::string title = "wattle top";
  if (!seen.host.empty()) title += "  " + seen.host;
  title += "  " + to_text(seen.elapsed);
  if (view.is_replay) title += fmt::format("  [replay, {:g} times as fast]", view.speed);
  if (view.is_paused) title += "  [paused]";
  if (!view.filter.empty() && !view.is_typing) title += fmt::format("  [filter: {}]", view.filter);
  return title;
}

std::string machine_line(const TopObservation& seen) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "  ") + part; };
  if (seen.busy && seen.length && seen.threads) {
    add(fmt::format("CPU {:.1f} % of {:g} threads",
                    100.0 * (*seen.busy / *seen.length) / *seen.threads, *seen.threads));
  }
  if (!seen.processes.empty()) add(fmt::format("{} processes", seen.processes.size()));
  if (seen.memory_used_bytes && seen.memory_total_bytes) {
    add(fmt::format("memory {} of {}", bytes_to_text(*seen.memory_used_bytes),
                    bytes_to_text(*seen.memory_total_bytes)));
  }
  return text;
}

std::string screen_footer(const TopView& view) {
  if (view.is_typing) return fmt::format("filter: {}_  Enter keeps it, Esc clears it", view.filter);
  constexpr std::array<std::string_view, 4> kUnits = {"J", "kWh", "", ""};
  const TopUnit& unit = view.shown_unit();
  const std::string_view name = unit.is_conversion()
                                    ? std::string_view(unit.word)
                                    : kUnits.at(static_cast<std::size_t>(unit.dimension));
  return fmt::format("q quit  ? help  s {}{}  g {}  / filter  t tree  p pause  u {}  r reset",
                     to_string(view.sort), view.is_reversed ? " (o reversed)" : "",
                     view.is_tree ? "tree" : to_string(view.key), name);
}

/// Lines: what is not shown or not measured, and why.
void add_notes(const TopObservation& seen, const GroupTable& groups, const TopView& view,
               std::size_t most, ScreenLines& lines) {
  const std::size_t end = lines.count() + most;
  const auto add = [&](std::string_view text, Tint tint) {
    if (!text.empty() && lines.count() < end) lines.add(text, tint);
  };
  for (const TopMachine& machine : seen.machines) {
    if (!machine.trouble.empty()) add(machine.name + ": " + machine.trouble, Tint::bad);
  }
  if (seen.estimate && seen.length) {
    const EnergyRange& range = seen.estimate->machine;
    add(fmt::format("estimate, not measured: {}",
                    range_text(range.low / *seen.length, range.typical / *seen.length,
                               range.high / *seen.length)),
        Tint::bold);
  }
  add(conversion_note(view.shown_unit()), Tint::dim);
  for (const PrintableText& note : seen.notes) add(note, Tint::dim);
  if (groups.share_of != ShareOf::cpu_time || !seen.idle) add(seen.idle_note, Tint::dim);
  for (const std::string& note : groups.notes) add(note, Tint::dim);
}

/// The ranks of columns of groups: those of a low rank stay longest.
constexpr unsigned kGroupName = 0;
constexpr unsigned kGroupShare = 1;
constexpr unsigned kGroupCpu = 2;
constexpr unsigned kGroupPower = 3;
constexpr unsigned kGroupMemory = 4;
constexpr unsigned kGroupGpu = 5;
constexpr unsigned kGroupGpuMemory = 6;
constexpr unsigned kGroupCount = 7;

std::string group_cell(const std::optional<double>& percent) {
  return percent ? fmt::format("{:.1f}", *percent) : std::string(kUnknownCell);
}

std::string group_cell(const std::optional<std::uint64_t>& bytes) {
  return bytes ? bytes_to_text(*bytes) : std::string(kUnknownCell);
}

/// In percent of one core.
std::string cpu_cell(const GroupRow& row, std::optional<Seconds> length) {
  const bool has_any = row.processes > row.unknown_cpu || row.cpu > Seconds(0);
  if (!length || !has_any) return std::string(kUnknownCell);
  return std::string(row.unknown_cpu > 0 ? kAtLeastCell : "") +
         fmt::format("{:.1f}", 100.0 * (row.cpu / *length));
}

/// The typical value of a range: three digits of it are enough.
std::string share_power_cell(const GroupRow& row, std::optional<Seconds> length,
                             const TopUnit& unit) {
  constexpr double kShownPart = 0.01;
  if (!row.energy || !length) return std::string(kUnknownCell);
  const double power_w = (row.energy->typical / *length).si();
  return power_text(Uncertain{power_w, power_w * kShownPart}, unit);
}

TableColumn named_column(std::string name, unsigned rank) {
  return {.name = std::move(name), .rank = rank};
}

std::vector<TableColumn> group_columns(const ShownRows& shown, const GroupTable& groups,
                                       const TopView& view) {
  constexpr std::array<std::string_view, 3> kShares = {"% power", "~% power", "% CPU time"};
  const bool is_each = view.shown_key() == TopKey::process;
  TableColumn share =
      named_column(std::string(kShares.at(static_cast<std::size_t>(groups.share_of))), kGroupShare);
  TableColumn power = named_column("~power", kGroupPower);
  TableColumn cpu = named_column("CPU %", kGroupCpu);
  TableColumn memory = named_column("memory", kGroupMemory);
  TableColumn gpu = named_column("GPU %", kGroupGpu);
  TableColumn gpu_memory = named_column("GPU memory", kGroupGpuMemory);
  TableColumn count = named_column(is_each ? "pid" : "processes", kGroupCount);
  TableColumn who{.name = std::string(to_string(view.shown_key())),
                  .align = Align::left,
                  .rank = kGroupName,
                  .least = 8,
                  .is_last = true};
  for (const GroupRow& row : shown.rows) {
    share.cells.push_back(group_cell(row.share));
    power.cells.push_back(share_power_cell(row, groups.length, view.shown_unit()));
    cpu.cells.push_back(cpu_cell(row, groups.length));
    memory.cells.push_back(group_cell(row.memory_bytes));
    gpu.cells.push_back(group_cell(row.gpu_percent));
    gpu_memory.cells.push_back(group_cell(row.gpu_memory_bytes));
    count.cells.push_back(is_each ? (row.pid > 0 ? std::to_string(row.pid) : "")
                                  : (row.processes > 0 ? std::to_string(row.processes) : ""));
    who.cells.push_back(
        std::string(view.is_tree ? 2 * std::min<std::size_t>(row.depth, 20) : 0, ' ') + row.name);
  }
  std::vector<TableColumn> all = {std::move(share),  std::move(power), std::move(cpu),
                                  std::move(memory), std::move(gpu),   std::move(gpu_memory),
                                  std::move(count),  std::move(who)};
  std::erase_if(all, [](const TableColumn& it) {
    const bool is_spare =
        it.rank == kGroupPower || it.rank == kGroupGpu || it.rank == kGroupGpuMemory;
    return is_spare && std::ranges::all_of(
                           it.cells, [](const std::string& text) { return text == kUnknownCell; });
  });
  return all;
}

std::optional<TopSort> sort_of(unsigned rank) {
  switch (rank) {
    case kGroupName:
      return TopSort::name;
    case kGroupShare:
    case kGroupPower:
      return TopSort::share;
    case kGroupCpu:
      return TopSort::cpu;
    case kGroupMemory:
      return TopSort::memory;
    case kGroupGpu:
    case kGroupGpuMemory:
      return TopSort::gpu;
    default:
      return std::nullopt;
  }
}

void add_groups(const TopObservation& seen, GroupTable groups, const TopView& view,
                std::size_t most, ScreenSize size, const TextStyle& style, ScreenLines& lines,
                TopHits& hits) {
  if (most < 2 || (groups.groups.empty() && groups.others.empty())) return;
  const GroupTable without_rows{.share_of = groups.share_of, .length = groups.length};
  const ShownRows shown = shown_rows(std::move(groups), seen.processes, view, most - 1);
  std::vector<TableColumn> columns = group_columns(shown, without_rows, view);
  for (TableColumn& column : columns) {
    for (std::string& text : column.cells) text = to_style_characters(text, style);
  }
  const TableLines table = lay_out(columns, size.columns);
  hits.line = lines.count();
  hits.page = std::max<std::size_t>(shown.groups, 1);
  hits.furthest = shown.furthest;
  for (const TableLines::ColumnPlace& place : table.places) {
    const auto sort = sort_of(columns[place.column].rank);
    if (sort) hits.columns.push_back({.sort = *sort, .from = place.from, .to = place.to});
  }
  lines.add_made({colored(table.names, Tint::dim, style)});
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const bool is_group = shown.rows[i].kind == GroupRow::RowKind::group;
    lines.add_made({is_group ? table.rows[i] : colored(table.rows[i], Tint::dim, style)});
  }
}

/// A key and its effect, or a sentence.
struct HelpLine {
  std::string_view key;
  std::string_view effect;
};
constexpr std::array<HelpLine, 18> kHelpLines = {{
    {"q, Ctrl-C", "quit"},
    {"?, h", "this help"},
    {"s", "sort by share, CPU, memory, GPU, name (or click on a column)"},
    {"o", "reverse the order"},
    {"g", "group by command, user, cgroup, container, pod, process"},
    {"t", "tree of processes"},
    {"/", "filter: show names that contain a text; Esc clears it"},
    {"p, space", "pause the screen; measuring continues"},
    {"u", "unit: J, kWh, and what --price and --carbon convert to"},
    {"r", "reset: count the energy from now on; start a replay again"},
    {"j k, arrows", "scroll; Page Up, Page Down, Home, End, wheel"},
    {"< >", "replay at half or twice the speed"},
    {"Ctrl-L", "draw the screen again"},
    {"", ""},
    {"",
     "Power is the mean of the period. Energy is since the start, ± the sampling error (95 %)."},
    {"", "Shares (~) are not measured: above the idle power by CPU time, a GPU's by who uses it."},
    {"", "'N more' has all rows that are not shown, so that the shares add up to 100."},
    {"", "docs/top.md explains the columns."},
}};

/// The rows that a screen of this height has room for.
struct ScreenHeights {
  bool has_machine = false;
  bool has_footer = false;
  std::size_t notes = 0;
};

ScreenHeights heights_of(ScreenSize size) {
  constexpr std::size_t kSmall = 6;
  constexpr std::size_t kUsual = 20;
  return {.has_machine = size.lines >= kSmall,
          .has_footer = size.lines >= kSmall,
          .notes = size.lines >= kUsual ? size.lines / 6 : size.lines / 12};
}

}  // namespace

TopFrame frame_of(const TopObservation& seen, GroupTable groups, const PowerTrails& trails,
                  const TopView& view, ScreenSize size, const TextStyle& style) {
  TopFrame frame;
  ScreenLines lines(size, style);
  const ScreenHeights heights = heights_of(size);
  lines.add(screen_title(seen, view), Tint::bold);
  if (view.shows_help) {
    for (const HelpLine& line : kHelpLines) {
      lines.add(line.key.empty() ? std::string(line.effect)
                                 : fmt::format("{:<14}{}", line.key, line.effect));
    }
    frame.lines = lines.take();
    return frame;
  }
  const std::string machine = machine_line(seen);
  if (heights.has_machine && !machine.empty()) lines.add(machine);
  const std::size_t footer = heights.has_footer ? 1 : 0;
  const auto room = [&] { return lines.left() - std::min(lines.left(), footer); };
  const bool has_groups = !groups.groups.empty() || !groups.others.empty();
  constexpr std::size_t kLeastGroups = 3;
  const std::size_t for_groups =
      has_groups ? std::max(room() / 2, std::min(room(), kLeastGroups)) : 0;
  lines.add_made(device_lines(seen, trails, view.shown_unit(), size.columns,
                              room() - std::min(room(), for_groups), style));
  const std::size_t spare = room() - std::min(room(), has_groups ? kLeastGroups : 0);
  add_notes(seen, groups, view, std::min(heights.notes, spare), lines);
  if (has_groups && room() > 2 * kLeastGroups) lines.add("");
  add_groups(seen, std::move(groups), view, room(), size, style, lines, frame.hits);
  std::vector<std::string> all = lines.take();
  if (heights.has_footer) {
    ScreenLines last({.columns = size.columns, .lines = 1}, style);
    last.add(screen_footer(view), view.is_typing ? Tint::bold : Tint::dim);
    all.back() = last.take().front();
  }
  frame.lines = std::move(all);
  return frame;
}

}  // namespace wattle::app
