#include "cli/options.hpp"

#include <fmt/format.h>
#include <sys/auxv.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text/option_words.hpp"
#include "base/text/parse.hpp"
#include "base/text/text.hpp"
#include "base/version.hpp"
#include "cli/gpu_choice.hpp"
#include "cli/raw_options.hpp"
#include "cli/unexpected.hpp"
#include "output/output.hpp"
#include "usage/files/usage_units.hpp"
#include "wattle/error.hpp"
#include "wattle/hardware_monitor.hpp"

namespace wattle::app {
namespace {

MonitorOptions checked_monitor(RawOptions& raw, bool has_mark, std::vector<std::string> command) {
  if (has_mark && command.empty()) {
    throw InvalidArgument("no command given after --: wattle monitor DIR -- CMD");
  }
  MonitorOptions monitor = std::move(raw.monitor);
  monitor.system = raw.system;
  (void)parse_gpus(monitor.gpus);
  monitor.interval = parse_seconds(raw.monitor_interval, "--interval",
                                   Seconds(HardwareMonitorOptions::kShortestInterval).count(),
                                   Seconds(HardwareMonitorOptions::kLongestInterval).count());
  monitor.command = std::move(command);
  return monitor;
}

SummaryOptions checked_summary(RawOptions& raw) {
  SummaryOptions summary = std::move(raw.summary);
  summary.json = raw.json;
  if (raw.gpus_in_file) {
    constexpr std::size_t kMost = 128;
    summary.gpus_in_file = parse_unsigned<std::size_t>(*raw.gpus_in_file);
    if (!summary.gpus_in_file || *summary.gpus_in_file < 1 || *summary.gpus_in_file > kMost) {
      throw InvalidArgument(fmt::format("--gpus-in-file takes a number from 1 to {}, not '{}'",
                                        kMost, printable(*raw.gpus_in_file)));
    }
  }
  // "None" is what the probe prints where it does not know.
  if (!raw.allocator_peak || *raw.allocator_peak == "None") return summary;
  summary.allocator_peak_mb = parse_double(*raw.allocator_peak);
  if (!summary.allocator_peak_mb || *summary.allocator_peak_mb < 0.0) {
    throw InvalidArgument(
        fmt::format("--allocator-peak-mb takes a number of MiB from 0 on, or None, not '{}'",
                    printable(*raw.allocator_peak)));
  }
  return summary;
}

/// The roots and the library. They are refused with foreign privileges: see `System`.
void choose_roots(RawOptions& raw) {
  const bool given = !raw.sysfs.empty() || !raw.procfs.empty() || !raw.nvml_library.empty();
  if (given && ::getauxval(AT_SECURE) != 0) {
    throw InvalidArgument(
        "--sysfs, --procfs and --nvml-library cannot be used with a wattle that has privileges of "
        "its own (setuid or file capabilities)");
  }
  if (!raw.sysfs.empty()) raw.system.sysfs = raw.sysfs;
  if (!raw.procfs.empty()) raw.system.procfs = raw.procfs;
  if (!raw.nvml_library.empty()) raw.system.nvml_library = raw.nvml_library;
}

/// The command is all words after the first "--" (`after`). Without "--" it starts at the first
/// word that is no option (`before`).
std::vector<std::string> command_of(std::vector<std::string> before, bool has_mark,
                                    const std::vector<std::string>& after) {
  if (!before.empty() && has_mark) before.emplace_back("--");
  before.insert(before.end(), after.begin(), after.end());
  if (before.empty()) throw InvalidArgument("no command given: wattle run [options] -- CMD");
  return before;
}

RunOptions checked_run(RawOptions& raw) {
  RunOptions run = std::move(raw.run);
  run.system = raw.system;
  run.interval = parse_interval(raw.interval);
  if (!raw.status.empty()) run.status = parse_interval(raw.status, "--status");
  if (!raw.status.empty() && run.status < run.interval) {
    throw InvalidArgument(
        "--status cannot be shorter than --interval: nothing new is known sooner");
  }
  const bool is_twice_stdout = is_stdout(run.report_path) && is_stdout(run.json_path);
  if (is_twice_stdout || (!run.report_path.empty() && run.report_path == run.json_path)) {
    throw InvalidArgument(
        fmt::format("-o and --json name the same file: {}", printable(run.report_path)));
  }
  if (is_stdout(run.html_path) && (is_stdout(run.json_path) || is_stdout(run.report_path))) {
    throw InvalidArgument("a page on stdout is alone there: give --html a file");
  }
  (void)bytes_in(run.ram_unit, "RAM");
  (void)bytes_in(run.gpu_ram_unit, "GPU RAM");
  (void)seconds_in(run.time_unit);
  run.saving = checked_save(raw.save);
  for (const auto& [option, path] : {std::pair("--series", &run.series_path),
                                     {"--units", &run.units_path},
                                     {"--tracking-file", &run.tracking_path},
                                     {"--usage-file", &run.usage_path}}) {
    if (*path != "-") continue;
    throw InvalidArgument(fmt::format("{} takes a file: stdout is the command's own", option));
  }
  return run;
}

void choose_domain(const std::string& name, PowerOptions& options) {
  if (name.empty()) return;
  if (name == "package") {
    options.cpu_domain = DomainKind::package;
  } else if (name == "dram") {
    options.cpu_domain = DomainKind::dram;
  } else {
    try {
      options.gpu_domain = parse_power_domain(name);
    } catch (const InvalidArgument&) {
      throw InvalidArgument(
          fmt::format("--domain takes device_instant, device_average, memory_average, "
                      "module_instant, module_average, package or dram, not '{}'",
                      printable(name)));
    }
  }
}

PowerOptions checked_power(const RawOptions& raw, PowerShows shows) {
  PowerOptions options{.system = raw.system,
                       .shows = shows,
                       .format = raw.json  ? PowerFormat::json
                                 : raw.csv ? PowerFormat::csv
                                           : PowerFormat::text,
                       .period = parse_interval(raw.period, "--period"),
                       .gpus = raw.gpus,
                       .estimate = raw.run.estimate};
  choose_domain(raw.domain, options);
  return options;
}

DoctorOptions checked_doctor(const RawOptions& raw) {
  DoctorOptions options{
      .system = raw.system, .json = raw.json, .apply = raw.apply, .verbose = raw.verbose};
  if (!raw.fix) return options;
  constexpr WordTable<FixTarget, 3> kTargets = {
      {{"cpu", FixTarget::cpu}, {"gpu", FixTarget::gpu}, {"daemon", FixTarget::daemon}}};
  options.fix = value_of_word("--fix", *raw.fix, kTargets);
  return options;
}

/// The words of the line, without the command of the user after "--".
struct Line {
  std::vector<std::string> words;
  std::vector<std::string> after{};
  bool has_mark = false;

  [[nodiscard]] std::string name() const { return words.empty() ? "" : words.front(); }
};

/// "wattle help run" is "wattle run --help".
Line read_line(int argc, const char* const* argv) {
  Line line{.words = {argv + std::min(argc, 1), argv + argc}};
  auto& words = line.words;
  if (line.name() == "help") {
    words.resize(std::min<std::size_t>(words.size(), 2));
    std::ranges::rotate(words, words.begin() + 1);
    words.back() = "--help";
  }
  if (line.name() != "run" && line.name() != "monitor") return line;
  const auto mark = std::ranges::find(words, "--");
  line.has_mark = mark != words.end();
  if (line.has_mark) line.after.assign(mark + 1, words.end());
  words.erase(mark, words.end());
  return line;
}

/// An empty value is a variable of a script that is not set, not a wish for the default. A command
/// to be run beside others may be empty, as hyperfine has it.
void refuse_empty_values(CLI::App& app) {
  for (CLI::App* const command : app.get_subcommands({})) {
    for (CLI::Option* const option : command->get_options([](const CLI::Option* it) {
           const bool is_value = it->nonpositional() || it->get_expected_max() == 1;
           const bool may_be_empty = it->get_type_name() == "CMD" && !it->check_lname("reference");
           return is_value && it->get_type_size() == 1 && !may_be_empty;
         })) {
      const std::string type =
          option->nonpositional() ? option->get_type_name() : option->get_name();
      const bool is_path = type == "FILE" || type == "DIR" || type == "PATH";
      option->check([is_path](const std::string& value) {
        return value.empty() ? fmt::format("takes a {}, not nothing", is_path ? "path" : "value")
                             : std::string();
      });
    }
  }
}

Options checked(RawOptions& raw, const CLI::App& command, Line line) {
  const std::string& name = command.get_name();
  choose_roots(raw);
  if (name == "sensors") {
    return SensorsOptions{raw.system, raw.json, raw.cross_check, raw.measure};
  }
  if (name == "doctor") return checked_doctor(raw);
  if (name == "track") return checked_track(raw.track, raw.system);
  if (name == "power") return checked_power(raw, PowerShows::power);
  if (name == "energy") return checked_power(raw, PowerShows::energy);
  if (name == "monitor") return checked_monitor(raw, line.has_mark, std::move(line.after));
  if (name == "summary") return checked_summary(raw);
  if (name == "history") return checked_history(raw.history);
  if (name == "report") return checked_report(raw.history);
  if (name == "mark") return checked_mark(raw.history);
  if (name == "config") return checked_config(raw.history);
  if (name == "compare") return checked_compare(raw.compare);
  if (name == "bench") return checked_bench(raw.bench, raw.system);
  if (name == "calibrate") return checked_calibrate(raw.calibrate);
  if (name == "top") return checked_top(raw.top, raw.system);
  if (name == "baseline") {
    return BaselineOptions{.system = raw.system,
                           .length = parse_seconds(raw.baseline_length, "--seconds", 2.0, 3600.0),
                           .json = raw.json};
  }
  RunOptions run = checked_run(raw);
  std::vector<std::string> before = command.remaining();
  if (!before.empty() && before.front().starts_with('-')) {
    throw InvalidArgument(unexpected(command, before.front()));
  }
  run.command = command_of(std::move(before), line.has_mark, line.after);
  return run;
}

/// `wattle run` without options leaves nothing to CLI11, and to set that up would take a third of
/// all instructions of a start.
Options run_without_options(Line line) {
  try {
    RawOptions raw;
    RunOptions run = checked_run(raw);
    line.words.erase(line.words.begin());
    run.command = command_of(std::move(line.words), line.has_mark, line.after);
    return run;
  } catch (const Error& wrong) {
    return usage_error("run", wrong.what());
  }
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  Line line = read_line(argc, argv);
  const std::string name = line.name();
  if (name == "stream") return StreamWords{{line.words.begin() + 1, line.words.end()}};
  const bool has_options = line.words.size() > 1 && line.words[1].starts_with('-');
  if (name == "run" && !has_options) return run_without_options(std::move(line));
  CLI::App app("Measure the energy, CPU time and memory of a command.", "wattle");
  RawOptions raw;
  app.set_version_flag("-V,--version", "wattle " + version_text());
  app.require_subcommand(1);
  add_commands(app, raw, name);
  refuse_empty_values(app);
  const auto commands = app.get_subcommands({});
  const auto named =
      std::ranges::find(commands, name, [](const CLI::App* it) { return it->get_name(); });
  const bool known = named != commands.end();
  const CLI::App& command = known ? **named : app;
  const std::string context = known ? name : "";
  if (line.words.empty()) return Answer{.text = app.help()};
  if (!known && !name.starts_with('-')) return usage_error("", unknown_command(app, line.words));
  try {
    std::vector<std::string> words = line.words;
    std::ranges::reverse(words);  // as CLI11 wants them
    app.parse(std::move(words));
    return checked(raw, command, std::move(line));
  } catch (const CLI::CallForHelp&) {
    return Answer{.text = command.help()};
  } catch (const CLI::CallForVersion&) {
    return Answer{.text = "wattle " + version_text() + "\n"};
  } catch (const CLI::ExtrasError&) {
    return usage_error(context, unexpected(command, app));
  } catch (const CLI::RequiredError&) {
    const std::string_view missing = name == "summary" ? "a folder or file" : "a folder";
    if (known) {
      return usage_error(context, fmt::format("{} is missing: wattle {} DIR", missing, name));
    }
    return usage_error("", unexpected(app, name));
  } catch (const CLI::ParseError& wrong) {
    return usage_error(context, option_message(wrong.what()));
  } catch (const Error& wrong) {
    return usage_error(context, wrong.what());
  }
}

}  // namespace wattle::app
