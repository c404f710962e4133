#include "top/frame.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>

#include "golden.hpp"
#include "made_up_machine.hpp"

namespace wattle::app {
namespace {

constexpr std::array<ScreenSize, 5> kSizes = {
    {{40, 10}, {80, 24}, {120, 40}, {200, 50}, {400, 100}}};

TopFrame frame(const TopObservation& seen, const TopView& view, ScreenSize size,
               TextStyle style = {}) {
  PowerTrails trails;
  TopObservation before = seen;
  for (int i = 0; i < 70 && !seen.devices.empty(); ++i) {
    before.devices.front().power = Uncertain{10.0 + i, 0.2};
    if (i == 65) before.devices.front().power.reset();
    trails.add(before);
  }
  trails.add(seen);
  style.width = size.columns;
  return frame_of(seen, group_rows(seen, view.shown_key()), trails, view, size, style);
}

/// A screen with a frame around it, without the spaces at the ends of its lines.
std::string framed(const TopFrame& shown, ScreenSize size) {
  std::string text = fmt::format("== {}x{}\n", size.columns, size.lines);
  EXPECT_EQ(shown.lines.size(), size.lines);
  std::size_t empty = 0;
  for (const std::string& line : shown.lines) {
    EXPECT_LE(columns_of(line), size.columns) << line;
    if (line.empty()) {
      ++empty;
      continue;
    }
    if (empty > 0) text += fmt::format("({} empty)\n", std::exchange(empty, 0));
    text += line + "\n";
  }
  return text;
}

std::string at_all_sizes(const TopObservation& seen, const TopView& view, TextStyle style = {}) {
  std::string text;
  for (const ScreenSize size : kSizes) text += framed(frame(seen, view, size, style), size);
  return text;
}

TEST(TopFrame, LooksRightAtFiveSizes) {
  testing_support::expect_golden("top/machine.txt", at_all_sizes(made_up_machine(), {}));
}

TEST(TopFrame, LooksRightAsATreeInAsciiWithAnotherUnit) {
  TopView view{.is_tree = true};
  view.units = {parse_price("0.30EUR")};
  testing_support::expect_golden("top/tree_ascii.txt",
                                 at_all_sizes(made_up_machine(), view, {.unicode = false}));
}

TEST(TopFrame, LooksRightWithoutSensors) {
  TopObservation seen = made_up_machine();
  seen.devices.clear();
  seen.idle.reset();
  seen.idle_note = {};
  seen.notes = {
      "no energy of CPUs: the host does not expose energy counters; --estimate prints a range "
      "instead"};
  std::string text = at_all_sizes(seen, {});
  seen.estimate = TopEstimate{.machine = {Joules(50.0), Joules(100.0), Joules(300.0)},
                              .busy = {Joules(10.0), Joules(40.0), Joules(90.0)},
                              .basis = "SPECpower"};
  text += "with --estimate\n" + at_all_sizes(seen, {});
  testing_support::expect_golden("top/no_sensors.txt", text);
}

TEST(TopFrame, LooksRightWithOtherMachines) {
  TopObservation seen = made_up_machine();
  seen.processes.clear();
  seen.busy.reset();
  for (TopDevice& device : seen.devices) device.machine = "node1:4747";
  seen.machines = {{.name = "node1:4747", .is_live = true},
                   {.name = "node2:4747", .trouble = "connecting: connection refused"}};
  testing_support::expect_golden("top/machines.txt", at_all_sizes(seen, {}));
}

TEST(TopFrame, LooksRightWithTheHelp) {
  testing_support::expect_golden("top/help.txt",
                                 at_all_sizes(made_up_machine(), {.shows_help = true}));
}

TEST(TopFrame, FitsEveryScreen) {
  TopObservation seen = made_up_machine();
  seen.processes.push_back(made_up_process(40, 1, "漢字のプロセス", "ユーザー", 0.3));
  seen.processes.push_back(made_up_process(41, 1, "\x1b[2J\xe2\x80\xae", "\x9b", 0.3));
  for (int i = 0; i < 30; ++i) {
    seen.devices.push_back(made_up_device(("amd_gpu_" + std::to_string(i)).c_str(), 1.0, 1.0));
  }
  TopView view;
  for (const bool is_tree : {false, true}) {
    view.is_tree = is_tree;
    for (std::size_t columns = 1; columns < 130; columns += columns < 12 ? 1 : 23) {
      for (std::size_t lines = 1; lines < 60; lines += lines < 10 ? 1 : 16) {
        const TopFrame shown = frame(seen, view, {columns, lines});
        ASSERT_EQ(shown.lines.size(), lines);
        for (const std::string& line : shown.lines) {
          EXPECT_LE(columns_of(line), columns) << line;
          EXPECT_EQ(line.find('\x1b'), std::string::npos) << line;
        }
      }
    }
  }
}

TEST(TopFrame, HasColoursWhereTheStyleHas) {
  std::string all;
  for (const std::string& line : frame(made_up_machine(), {}, {80, 24}, {.color = true}).lines) {
    all += line;
  }
  EXPECT_NE(all.find("\x1b[1m"), std::string::npos);
  EXPECT_NE(all.find("\x1b[31m"), std::string::npos) << "a device without a power";
}

TEST(TopFrame, IsPureAndOfTenThousandProcessesToo) {
  TopObservation seen = made_up_machine();
  for (pid_t pid = 1000; pid < 11'000; ++pid) {
    seen.processes.push_back(made_up_process(pid, pid - 1, "worker", "alice", 0.001));
  }
  TopView view{.is_tree = true};
  const TopFrame once = frame(seen, view, {120, 40});
  EXPECT_EQ(once.lines, frame(seen, view, {120, 40}).lines);
  EXPECT_GT(once.hits.furthest, 9'000U);
}

TEST(TopFrame, SaysWhereTheColumnsAre) {
  const TopFrame shown = frame(made_up_machine(), {}, {80, 24});
  ASSERT_FALSE(shown.hits.columns.empty());
  const std::string& names = shown.lines.at(shown.hits.line);
  for (const TopHits::ColumnHit& column : shown.hits.columns) {
    if (column.sort != TopSort::cpu) continue;
    EXPECT_EQ(names.substr(column.from, column.to - column.from), "CPU %");
  }
}

}  // namespace
}  // namespace wattle::app
