#include "lab/board_cells.hpp"

#include <fmt/format.h>

#include <string>

#include "lab/cell_parts.hpp"

namespace wattle::lab {
namespace {

using Cells = std::vector<Cell>;

Machine read_at(Machine machine, int hz) {
  machine.reader.lane_s = 1.0 / hz;
  machine.name += fmt::format(", {} Hz", hz);
  return machine;
}

Machine unlisted(Machine machine) {
  if (machine.gauge) machine.gauge->is_listed = false;
  machine.name += " unlisted";
  return machine;
}

/// A board of exactly this interval, which Wattle takes for 100 ms.
Machine taken_for_100_ms(double update_ms, double window_s) {
  UpdateModel update = kGpuUpdate;
  update.mean_s = update_ms * 1e-3;
  update.between_boards = 0.0;
  Machine machine =
      gpu(fmt::format("gpu {:g}/{:g} ms exactly", window_s * 1e3, update_ms), update, window_s);
  machine.gauge->listed_update_s = 0.1;
  return machine;
}

/// A K40m (see known_sensors.cpp).
Machine lagging() {
  constexpr UpdateModel kUpdate = {.mean_s = 15.4e-3, .spread_s = 0.2e-3, .between_boards = 0.01};
  Machine machine = gpu("gpu lagging by 55 ms", kUpdate, 0.0);
  machine.gauge->time_constant_s = 0.055;
  return machine;
}

/// The mean over a second of a board that, when it idles, renews it only once a second.
Machine freezing() {
  Machine machine = gpu("gpu 1 s mean, freezing", kGpuUpdate, 1.0);
  machine.gauge->frozen_updates = 10;
  machine.gauge->frozen_below_w = 150.0;
  return machine;
}

/// Work that takes six tenths of its window, somewhere in it.
Load job(std::string_view name, const Waveform& shape) {
  Load load = work(name, shape, 65.0);
  load.part = 0.6;
  return load;
}

constexpr double kLowW = 60.0;
constexpr double kHighW = 450.0;

std::vector<Load> deep_loads(double window_s) {
  return {
      work("step at the edges", Waveform::constant(kHighW), kLowW),
      step_inside(kLowW, kHighW, window_s),
      job("job", Waveform::constant(kHighW)),
      job("job, 130 ms square", Waveform::square(kLowW, kHighW, 0.13)),
      periodic("sine 3 Hz", Waveform::sine(255.0, 195.0, 1.0 / 3.0)),
      periodic("bursts", Waveform::bursts(kLowW, kHighW, 0.4, 0.2, kBurstSeed)),
      periodic("aperiodic", Waveform::noise(kLowW, kHighW, 0.03, kNoiseSeed)),
      periodic("square of 1 s", Waveform::square(kLowW, kHighW, 1.0)),
  };
}

/// Boards of 99 to 101 ms are all taken for one of 100 ms. While the power is steady, a value that
/// is read twice, or never, looks as any other: how long work took is known to within a period.
bool hides_its_pace(const Machine& machine, const Load& load) {
  return machine.gauge->update.between_boards == 0.0 && machine.gauge->update.mean_s == 0.1 &&
         load.part < 1.0;
}

/// Five periods of 130 ms are 13 looks: twenty of them are those of a load of any shape that
/// repeats itself after 650 ms, whatever it does in the 40 of 50 ms that are not seen.
bool is_in_step_with_its_reader(const Machine& machine, const Load& load, double window_s) {
  return machine.gauge->update.mean_s == kFastGpuUpdate.mean_s && machine.reader.lane_s == 0.05 &&
         load.name == "job, 130 ms square" && window_s == 1.0;
}

/// Nobody knows how an unlisted gauge looks at the power: its +- is for all that one can be.
std::string_view why_exempt(const Machine& machine, const Load& load, double window_s) {
  if (!machine.gauge->is_listed) return "nobody knows the gauge";
  if (machine.gauge->window_s == 1.0) return kUnknownFilter;
  if (load.name == "square of 1 s") return "load in step with the gauge";
  if (hides_its_pace(machine, load)) return "a board of 101 ms shows the same values";
  if (is_in_step_with_its_reader(machine, load, window_s)) return "load in step with its reader";
  return "";
}

void add(Cells& cells, const Machine& machine, const Load& load, double window_s) {
  cells.push_back({.mode = "gauge",
                   .machine = machine,
                   .load = load,
                   .window_s = window_s,
                   .exempt_from_width = why_exempt(machine, load, window_s)});
}

/// A gauge that sees all the time shows nothing of a load at its own pace but the mean.
void add_deep_loads_at_the_pace(Cells& cells) {
  for (const double update_ms : {99.9, 100.0, 101.15}) {
    const Machine machine = taken_for_100_ms(update_ms, update_ms * 1e-3);
    for (const double window_s : {1.0, 5.0, 10.0}) {
      add(cells, machine,
          periodic("deep square at its period", Waveform::square(63.0, 400.0, update_ms * 1e-3)),
          window_s);
    }
    for (const Load& load : deep_loads(10.0)) add(cells, machine, load, 10.0);
  }
}

/// An A100, renewed each 101.15 ms, and a board like it that nobody has described, under a load of
/// 104 ms that swings from 1 to 3.5.
void add_hidden_loads(Cells& cells) {
  const Machine known = taken_for_100_ms(101.15, 0.025);
  for (const Machine& machine : {known, unlisted(known)}) {
    for (const double window_s : {0.5, 5.0}) {
      cells.push_back({.mode = "gauge",
                       .machine = machine,
                       .load = periodic("square of 104 ms", Waveform::square(70.0, 245.0, 0.104)),
                       .window_s = window_s,
                       .exempt_from_width = "load near the gauge's own period"});
    }
  }
}

}  // namespace

void add_board_cells(Cells& cells) {
  const Machine whole = gpu("gpu 100/100 ms", kGpuUpdate, 0.1);
  const std::vector<Machine> machines = {
      read_at(whole, 10),
      read_at(whole, 20),
      read_at(whole, 50),
      read_at(unlisted(whole), 10),
      read_at(unlisted(whole), 20),
      read_at(unlisted(whole), 50),
      read_at(gpu("gpu 25/100 ms", kGpuUpdate, 0.025), 20),
      read_at(gpu("gpu 25/100 ms", kGpuUpdate, 0.025), 50),
      read_at(unlisted(gpu("gpu 25/100 ms", kGpuUpdate, 0.025)), 20),
      read_at(unlisted(gpu("gpu 25/100 ms", kGpuUpdate, 0.025)), 50),
      read_at(gpu("gpu 10/20 ms", kFastGpuUpdate, 0.01), 20),
      read_at(gpu("gpu 10/20 ms", kFastGpuUpdate, 0.01), 50),
      read_at(lagging(), 10),
      read_at(lagging(), 20),
      read_at(lagging(), 50),
  };
  for (const Machine& machine : machines) {
    for (const double window_s : {1.0, 10.0}) {
      for (const Load& load : deep_loads(window_s)) add(cells, machine, load, window_s);
    }
  }
  // A mean over a second shows nothing of a sine of 3 Hz, nor of a square of a second.
  for (const Machine& machine : {read_at(freezing(), 10), read_at(freezing(), 50)}) {
    for (const Load& load : deep_loads(10.0)) {
      if (load.part < 1.0 || load.outside || load.name == "aperiodic") {
        add(cells, machine, load, 10.0);
      }
    }
  }
  add_deep_loads_at_the_pace(cells);
  add_hidden_loads(cells);
}

}  // namespace wattle::lab
