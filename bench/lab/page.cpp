#include "lab/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "lab/estimators.hpp"
#include "lab/svg.hpp"

namespace wattle::lab {
namespace {

constexpr std::string_view kIntroduction =
    R"(Wattle says of every energy how far it can be off. This page holds that against loads whose energy
is known exactly: simulated sensors with the timing of real ones, in virtual time. An error is what a
way of measuring said minus the truth, as a part of the truth. The ± (k = 2) should cover the truth in
at least 95 % of the trials, and should not be much wider than it takes. It is about the measuring: a
sensor's own calibration is another matter: [calibration.md](calibration.md).

Each trial has a window of random length (within 10 % of the one given), at a random phase of load and
sensor. Beside Wattle stand the common ways: for counters the difference of two reads; for gauges a
trapezoid through the values that changed, and the value of each second taken for the whole second.
)";

constexpr std::string_view kColumns =
    R"(Bias, rms and p95 (of the size of the error) are in percent of the true energy, as is ±, the median
of what Wattle claims. "Covers" is the part of the trials in which the truth lay within the ±.
)";

constexpr std::string_view kMisses =
    R"(
## What is missed, and why

**A load at the pace of a gauge that sees a part of the time**, or at a whole multiple of it, or near to that (90 to
110 ms, 48 to 52 ms, 20 ms on a gauge of 100 ms), is hidden: it is at the same phase, or nearly so, each
time the gauge samples. Its values are then as steady as those of a constant load, or change as slowly as
if the load did: no ± from them can know that they are wrong, but one that is useless under every steady
load.

**A counter that adds up what such a gauge shows** misses what the gauge misses. Of H100 and H200 it is known that theirs does not
([sensors/nvml.md](sensors/nvml.md)); of other boards nobody has published it. Beside the gauge's values a load that is unsteady shows it: what
such a counter counts is what they say, from update to update. Then its energy is flagged `partial_coverage`, and has the gauge's ± for
the time that is not seen. A counter that differs from them has no flag. Where neither shows it is flagged `coverage_unknown`:

- The gauge's values are steady: so are those of a load in step with it. If the counter shows another mean, it is no sum of them.
- They change a few times only, or the counter was read a few times only. `wattle run` reads it once a second: that takes
  ten seconds or more of an unsteady load, and 300 updates of the gauge (30 s) are looked at.
- Not every update of the gauge was read (a V100 renews it every 20 ms).

`wattle sensors --measure --watch-load` finds it out and keeps it. No flag comes where no gauge was read in the window (`EnergyMeter`),
beside gauges that nobody has described, and from sources that do not show both (a daemon's stream).

Loads that are in step with a gauge otherwise (150, 300, 500 ms) are seen at a few phases, always the
same. Their values repeat after a few samples, which widens the ± (at 60 ms more than it takes: on a
gauge of 100 ms that looks like 300 ms). What is shorter than the time between two samples can be in
between at each of these phases, and then it is in no value, and in no ± either.

What is promised of a hidden load instead: it is flagged `partial_coverage` (`coverage_unknown` on a gauge that
nobody has described), and all values are at worst its highest power, or its lowest. A load that swings from l to h and is high half of the time costs up to
(h - l) / (h + l): a third from 200 to 400 W, 56 % from 70 to 245 W. A counter of its own notices it
(`disagrees`) wherever the gauge is off by more than both ± and what sensors are off.

**A load at the pace of a gauge that sees all the time** shows in none of its values either, but costs
something at the ends alone. The ± is for swings of up to 77 % of the mean, as boards of 350 W and more
show them. A smaller swing looks like a larger one there, and gets the same ±. For a mean over a
second a square of a second is such a load; its ± is for a ripple of 60 % at three times its pace.

**Gauges that nobody has described** are taken to be renewed every 100 ms, and to see an unknown part
of that: the ± is for all that they can be, and wider than any one of them takes. A load near their own pace is hidden all
the same. With 25 of 100 ms and a square of 104 ms it holds the truth in 28 % (0.5 s) and 30 % (5 s) of 100 trials, flagged
`coverage_unknown` in each; in 32 cells of other loads in at least 96 %. `wattle sensors --measure` finds out how much they see.

Three more pairs of worlds have the same readings and different energies. The ± covers both worlds, and is
more than three times the error in the quieter one. These cells need not be narrow, but are covered:

- A board of 100 ms and one of 101 ms both count as one of 100 ms. Where a job runs steadily inside of its
  window and the reader reads every 100 ms, a value that is read twice, or never, looks as any other. So how
  long the job took is known to within one period.
- A load of 130 ms, read every 50 ms for a second, is seen at 13 phases once or twice. A load that repeats
  itself after 650 ms, and does anything else in the 40 of 50 ms that are not seen, shows the same values.
  Over 10 s the ± is as narrow as elsewhere.
- A step that comes after the newest value of a window is in no value. At worst (work of 0.6 s somewhere in
  1 s, a gauge of 100 ms) that leaves the coverage at little more than 95 %.

**Averages of an unknown filter** (`power.draw.average`) are flagged `coverage_unknown`. Their ± misses the truth
where they are the only sensor and the power changes after the newest values, where the load is in step with updates
of a second, and where a filter follows rises sooner than falls and hides how much the power swings: the cells are
named in [averages.md](averages.md).

**A counter that pauses** for longer than it is known to be renewed in, and is read rarely, shows that in no reading: a pause
of 15 ms every 30 ms leaves the ± of a window of a second at 60 to 80 % of the truths. `wattle sensors --measure` sees
such pauses and keeps them, and a lane that reads at the counter's pace sees them itself: then each of 81 cells of
`uncertainty_coverage_test` is covered. `update_is_observed` in the JSON of a run says whether the interval was seen on
this sensor, or is only published. Sums of 100 such runs hold it in 12 to 98 of 100 trials.

**Sums** of runs, boards and intervals are marked in the tables of [sums.md](sums.md) where their ± is not promised, or is
more than three times as wide as the error. Two kinds are in no reading: runs that draw less than
half of what was drawn just before them, where nobody read that (0 to 3 of 100 trials), and runs whose power changes after
the last reading, the same way in each (2 to 88). `wattle run` reads before the start and on after the end; sums of runs
that were not read so, or ended too soon, are flagged `ends_unseen`.

**An external meter** names most wrong sensors, but not all: which, how many, and why, is in
[calibration.md](calibration.md#how-often-it-is-right).

## Where the ± and the flags are

The ± is k = 2, of the measuring; flags are those of [json.md](json.md#flags-of-a-domain).
`tests/integration/flags_test.cpp` runs each command on a machine whose gauge sees a part of the time, and finds its flag
(`stream`, whose gauges have no model, has `coverage_unknown`: `stream_command_test.cpp`; outputs of counters alone, as
baselines: unit tests of their texts). A flag that loses
nothing (`wrapped`) is in tables of domains and in JSON alone.

| output | ± | flags |
|---|---|---|
| `run`: first line, with the energy of all domains | beside the energy; the mean has the same ± in percent, and the last digit that it supports | in the same line |
| `run`: energies of domains and of all of them | beside each; JSON: `uncertainty_j`, `common_j` | last column, also of the total; JSON: `flags`, `total_flags` |
| `run`: mean power | the last digit that the energy's ± supports | of its energy |
| `run`: highest power | the last digit that the ± of its interval supports; JSON: `max_uncertainty_w` | of its energy |
| `run --html` | as in the text; the band of a plot | as in the text |
| `run --status` | beside the mean power; none where an interval's is unknown | in the same line |
| `run --series` | next to the last column | last column |
| phases | beside the energy; JSON as above | last column; JSON: `total_flags` |
| shares of a run | beside the measured energy; a share is an estimate with a range; JSON: `measured_uncertainty_j` | in the same line; JSON: `measured_flags` |
| units of work | an interval of 95 % for means and per work; median and p99 have theirs in the JSON alone; beside the measured energy of a domain | after the measured energy of a domain; JSON: `measured_flags` |
| `report` | beside the energy of each machine and of all; an interval of 95 % for units; JSON: of each run too | first line and last column, `in_step` also in a remark; JSON: of all, of each machine and run |
| `report --html` | beside the energy of each machine and run | as in the text; of each run in its remarks |
| `report --brief`, `step`, a job's comment in Slurm | beside the energy | after it |
| `history list` | beside the energy | next column; JSON, CSV: `energy_flags` |
| `history show` | beside the energy, of each domain too | after it |
| `bench` | in the 95 % interval of the mean; `sd` is how much runs differ | a note; JSON: `energy_flags` of each run |
| `bench`: table of a parameter | half of the 95 % interval of the mean | last column |
| `bench`: CSV, Markdown and other tables | in the 95 % interval of the mean, beside `sd` | CSV: `energy_flags`; else in the cell of that interval |
| `bench --html`, `compare --html`: runs | beside the energy; of the power the last digit that is supported | last column |
| `compare` | in the 95 % interval | a note; JSON: a note |
| `energy`, `power`: lines | at the end of the line: of the total, or of the only device | after it, of all devices |
| `energy`, `power`: totals, CSV, JSON | beside each energy; JSON, CSV: `uncertainty_j`, `uncertainty_w` | last column, of each device; JSON: of the total too |
| `stream`: powers | none: a reading of a sensor now | beside the energies with `--energy` alone |
| `stream`: energies | beside each, also of the total; of the mean the last digit that is supported; JSON: `uncertainty_j`, `uncertainty_w` | last column, also of the total; JSON: `flags` |
| `track` | beside each energy | after it; JSON: `flags` |
| `summary`, hw_samples.csv | beside the energy; a peak is a reading, and has none | after the energy, also of the total; JSON; `energy_flag_NAME` |
| `baseline`, and every text with it | beside the idle power; JSON: `uncertainty_w` | after it; JSON: `flags` |
| `sensors --cross-check` | beside each energy; JSON: `uncertainty_j`, `other_uncertainty_j` | after it; JSON: `flags`, `other_flags` |
| `/metrics` | `wattle_energy_uncertainty_joules` of energies that the daemon adds up | `wattle_power_coverage_ratio` below 1 for `partial_coverage`; no others |
| `top` | beside the energy; of the power the last digit that is supported; JSON: `uncertainty_j`, `uncertainty_w` | last column, also of the total; JSON: `flags` |
| `top --once`: energy of the CPUs | beside it; JSON: `uncertainty_j` | in the same line; JSON: `flags` |
| `/api/v1/energy` | `uncertainty_j`, `common_j` | `flags` |
| `/api/v1/power` | `uncertainty_w` of a counter; of a gauge `/api/v1/energy` has it | `flags`, of all columns |
| `/api/v1/shares` | `uncertainty_w`, `low_uj`, `high_uj` of a group, by how it is divided | `/api/v1/energy` has those of what is divided |
| the daemon's page | beside each energy and their sum; in the plots of the past; power now is what a sensor shows | in the table the next column; after the sum; in the sentence |
| OTLP of a run | `wattle.run.energy.domain.uncertainty`, `wattle.run.energy.uncertainty`, `wattle.phase.energy.uncertainty`; spans: `energy.uncertainty_joules` | attribute `energy.flags` |
| C++: an energy in a stream, `TableHandler` | beside it | after it |
| C++: `PrintHandler`, `CsvHandler`, `MongoHandler` | with `details` beside each energy; without it the formats are those of pyJoules, which have no place for it | with `details` |
| Python: `Measurement` as text, in notebooks, `to_dict()` | beside the energy; `power_uncertainty_w` | after it; next column; `flags` |
| Python: the table of pytest, JUnit | beside the energy; `energy_uncertainty_j` | after it; `energy_flags` |
| Python: `log_to`, `metrics` | `uncertainty_j`, `power_uncertainty_w`, `DOMAIN_uncertainty_j` | `flag_NAME` |
| Python: `Server-Timing` | `energy_uncertainty` | `energy_flags` |
| Grafana: nodes, GPUs | a panel of its own | a table of sensors with `partial_coverage` |

The flag is followed by `DaemonEnergy.OfAGauge...` and `PartialGaugeOfADaemon` into the daemon's answers, by `web/test/sums.mjs` into its page, by
`test_otlp_run.py`, `GpuMeter.HasTheFlag...`, `test_flags.py` and `test_grafana.py` into the others.

## What real boards showed

Power sensors were recorded beside an external meter (RTX 3090, 4090, A5000, A100, K40m;
github.com/JimZeyuYang/GPU_Power_Benchmark), 10 to 14 s each. The cells of several rates (10, 20, 50 Hz)
are made after what they showed:

- Real work swings by 57 % of its mean and more, up to 3.5-fold.
- Gauges keep a pace of their own (99.9, 100, 101.15 ms): gauge and reader beat. When one overtakes
  the other, a value counts once too often or too seldom; a job that is shorter than its window pays for that.
- A K40m follows the power with a lag of 55 ms, renewed every 15.4 ms. The power is the value plus 55 ms times
  its slope, so the energy needs the values at the ends, and no others.
- `power.draw.average` is not always renewed every 100 ms. After a load has ended it stays as it is for a
  second at a time. It counts as up to a second old.
- `power.draw.average` is stated to be a mean over a second. An A5000 shows that; Ada boards are reported to
  take longer. It is taken for a filter that nobody has described:
  [averages.md](averages.md). A counter or an instant gauge is always preferred to it, and flagged `disagrees` where
  it contradicts them by more than its own ± allows.
)";

std::string percent(double part) {
  return fmt::format("{:.3g}", std::abs(part) < kRounding ? 0.0 : 100.0 * part);
}

const WayResult* find_common(const CellResult& result, std::string_view name) noexcept {
  const auto found = std::ranges::find(result.common, name, &WayResult::way);
  return found == result.common.end() || found->found == 0.0 ? nullptr : &*found;
}

const WayResult* wattle_of(const CellResult& result) noexcept {
  return result.wattle && result.wattle->found > 0.0 ? &*result.wattle : nullptr;
}

bool shows(const Cell& cell, std::string_view machine, std::string_view load) noexcept {
  return cell.machine.name == machine && cell.load.name == load;
}

bool is_empty(const Line& line) noexcept { return line.points.empty(); }

/// How the error falls with the length of the window.
Plot windows_plot(const Results& results, std::string_view machine, std::string_view load) {
  Plot plot{.title = fmt::format("Error by length of the window: {}, {}", machine, load),
            .x = {.title = "window", .low = 0.01, .high = 10.0, .is_logarithmic = true},
            .y = decades_of_percent("rms error", -4, 2)};
  std::set<double> windows;
  Line peer{.name = "two reads, rms"};
  for (const Way& mode : modes()) {
    Line rms{.name = fmt::format("{}, rms", mode.name)};
    Line width{.name = fmt::format("{}, ±", mode.name), .is_dashed = true};
    for (const Entry& entry : results.cells) {
      const Cell& cell = entry.cell;
      const CellResult& result = entry.result;
      if (!shows(cell, machine, load) || cell.mode != mode.name) continue;
      const WayResult* const way = wattle_of(result);
      if (way == nullptr) continue;
      windows.insert(cell.window_s);
      rms.points.push_back({cell.window_s, way->errors.rms});
      if (way->claims) width.points.push_back({cell.window_s, way->claims->median_half_width});
      if (mode.name != modes().front().name) continue;
      if (const WayResult* const two = find_common(result, peer.name.substr(0, 9))) {
        peer.points.push_back({cell.window_s, two->errors.rms});
      }
    }
    plot.lines.push_back(std::move(rms));
    plot.lines.push_back(std::move(width));
  }
  plot.lines.push_back(std::move(peer));
  std::erase_if(plot.lines, is_empty);
  for (const double window_s : windows) plot.x.ticks.push_back({window_s, length_text(window_s)});
  return plot;
}

Line distribution_of(std::string name, const WayResult& way) {
  Line line{.name = std::move(name)};
  const std::size_t count = way.quantiles.size();
  for (std::size_t i = 0; i < count; i += 5) {
    line.points.push_back(
        {way.quantiles[i],
         static_cast<double>(i) / static_cast<double>(std::max<std::size_t>(count - 1, 1))});
  }
  return line;
}

/// Which part of the trials has an error up to which size.
Plot errors_plot(const Results& results, std::string_view machine, std::string_view load,
                 double window_s, double most_percent) {
  Plot plot{.title = fmt::format("Errors of all trials: {}, {}, {}", machine, load,
                                 length_text(window_s)),
            .x = {.title = "error", .low = -most_percent / 100.0, .high = most_percent / 100.0},
            .y = {.title = "part of the trials"}};
  for (const double part : {-1.0, -0.5, 0.0, 0.5, 1.0}) {
    plot.x.ticks.push_back(
        {part * most_percent / 100.0, fmt::format("{:g} %", part * most_percent)});
  }
  for (const double part : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    plot.y.ticks.push_back({part, fmt::format("{:g} %", 100.0 * part)});
  }
  std::set<std::string_view> seen;
  for (const Entry& entry : results.cells) {
    if (!shows(entry.cell, machine, load) || entry.cell.window_s != window_s) continue;
    if (const WayResult* const way = wattle_of(entry.result)) {
      plot.lines.push_back(distribution_of(std::string(way->way), *way));
    }
    for (const WayResult& way : entry.result.common) {
      if (way.found == 0.0 || !seen.insert(way.way).second) continue;
      plot.lines.push_back(distribution_of(std::string(way.way), way));
    }
  }
  return plot;
}

std::string claims_text(const WayResult& way) {
  if (!way.claims) return "| | ";
  std::string flags;
  const auto add = [&](double part, std::string_view name) {
    if (part > 0.0)
      flags += fmt::format("{}`{}` {:.1f} %", flags.empty() ? "" : ", ", name, 100.0 * part);
  };
  add(way.claims->disagrees, "disagrees");
  add(way.claims->partial_coverage, "partial_coverage");
  add(way.claims->coverage_unknown, "coverage_unknown");
  add(way.claims->gap, "gap");
  return fmt::format("{} | {:.1f} % | {}", percent(way.claims->median_half_width),
                     100.0 * way.claims->coverage, flags);
}

/// Empty where Wattle found nothing.
std::string row_of(const Cell& cell, const CellResult& result) {
  const WayResult* const way = wattle_of(result);
  if (way == nullptr) return {};
  std::string common;
  for (const WayResult& other : result.common) {
    if (other.found == 0.0) continue;
    common +=
        fmt::format("{}{} {}", common.empty() ? "" : ", ", other.way, percent(other.errors.rms));
  }
  return fmt::format("| {} | {} | {} | {:.4g} | {} | {} | {} | {} | {} |\n", cell.machine.name,
                     cell.load.name, length_text(cell.window_s), result.true_mean_j,
                     percent(way->errors.bias), percent(way->errors.rms), percent(way->errors.p95),
                     claims_text(*way), common);
}

void add_table(std::string& page, const Results& results, std::string_view mode) {
  std::string rows;
  for (const Entry& entry : results.cells) {
    if (entry.cell.mode == mode) rows += row_of(entry.cell, entry.result);
  }
  if (rows.empty()) return;
  page += fmt::format(
      "\n## `{}`\n\n"
      "| sensor | load | window | true J | bias | rms | p95 | ± | covers | flagged | common ways, "
      "rms "
      "|\n|---|---|---|---|---|---|---|---|---|---|---|\n{}",
      mode, rows);
}

}  // namespace

std::vector<PageImage> images_of(const Results& results) {
  std::vector<PageImage> images;
  const auto add = [&](std::string name, const Plot& plot) {
    if (!plot.lines.empty())
      images.push_back({"accuracy-" + std::move(name) + ".svg", plot.title, svg_of(plot)});
  };
  add("windows-work", windows_plot(results, "ice lake", "step at the edges"));
  add("windows-running", windows_plot(results, "ice lake", "40 Hz square"));
  add("errors-counter", errors_plot(results, "ice lake", "work, 40 Hz square", 0.1, 2.0));
  add("errors-gauge", errors_plot(results, "gpu 25/100 ms", "aperiodic", 10.0, 10.0));
  return images;
}

std::string page_of(const Results& results, const std::vector<PageImage>& images) {
  std::string page = "# How accurate the numbers are\n\n";
  page += kIntroduction;
  page += fmt::format(
      "\nThis page is made by a program, from {} trials a cell:\n"
      "`build/release/bench/lab --trials {} --seed {} --markdown docs/accuracy.md`\n"
      "(`cmake --preset release && cmake --build build/release --target lab` builds it, "
      "`--jobs` takes more\nprocessors, `--trace FILE` tries a load of your own).\n\n"
      "## Targets\n\n| | target | found |\n|---|---|---|\n",
      results.options.trials, results.options.trials, results.options.seed);
  for (const Verdict& verdict : judge(results)) {
    page += fmt::format("| {} | {} | {} |\n",
                        verdict.is_met.value_or(true) ? text_of(verdict.is_met) : "**MISSED**",
                        verdict.target, verdict.value);
  }
  page += kMisses;
  page += "\n## Plots\n";
  for (const PageImage& image : images)
    page += fmt::format("\n![{}](images/{})\n", image.title, image.name);
  page += "\n## Every cell\n\n";
  page += kColumns;
  for (const Way& mode : modes()) add_table(page, results, mode.name);
  return page;
}

}  // namespace wattle::lab
