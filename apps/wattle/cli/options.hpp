// The command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/marks.hpp"
#include "bench/bench_plan.hpp"
#include "bench/compare_options.hpp"
#include "history/save_options.hpp"
#include "machine/calibrate_options.hpp"
#include "runs/history/history.hpp"
#include "top/top_groups.hpp"
#include "top/units.hpp"
#include "wattle/domain.hpp"
#include "wattle/power_monitor.hpp"
#include "wattle/system.hpp"
#include "wattle/tracker.hpp"

namespace wattle::app {

struct RunOptions {
  System system;
  std::vector<std::string> command;
  std::chrono::nanoseconds interval{0};
  std::chrono::nanoseconds status{0};  ///< between two status lines; 0: none
  std::string report_path;             ///< empty: stderr
  std::string json_path;               ///< empty: none; "-": stdout
  std::string html_path;               ///< empty: none; "-": stdout
  std::string series_path;             ///< empty: none
  std::string units_path;              ///< empty: none
  std::string gpus = "all";            ///< see gpu_choice.hpp
  /// As in `TrackerOptions`.
  std::string ram_unit = "gigabytes";
  std::string gpu_ram_unit = "gigabytes";
  std::string time_unit = "seconds";
  std::string tracking_path;  ///< empty: none
  std::string usage_path;     ///< empty: in the state folder
  bool append = false;
  bool quiet = false;
  bool verbose = false;  ///< a report of each GPU, and of the idle power
  bool every_rank = false;
  bool task_clock = false;  ///< see task_clock.hpp
  SaveOptions saving{};
  bool estimate = false;  ///< a range where no sensor covers the CPU
};

struct SensorsOptions {
  System system;
  bool json = false;
  bool cross_check = false;
  bool measure = false;
};

/// What `wattle doctor --fix` is to let be measured.
enum class FixTarget : std::uint8_t { cpu, gpu, daemon };

struct DoctorOptions {
  System system;
  bool json = false;
  std::optional<FixTarget> fix{};  ///< absent: a report of what is missing
  bool apply = false;              ///< run the commands of `fix`, as root
  bool verbose = false;            ///< proof and risk of each cause
};

enum class PowerShows : std::uint8_t { power, energy };
enum class PowerFormat : std::uint8_t { text, json, csv };

/// `wattle power` and `wattle energy`.
struct PowerOptions {
  System system;
  PowerShows shows = PowerShows::power;
  PowerFormat format = PowerFormat::text;
  std::chrono::nanoseconds period{0};
  std::string gpus = "all";  ///< see gpu_choice.hpp
  /// At most one of them: nothing else is shown then.
  std::optional<PowerDomain> gpu_domain{};
  std::optional<DomainKind> cpu_domain{};
  bool estimate = false;  ///< a range where no sensor covers the CPU
};

/// `wattle baseline`.
struct BaselineOptions {
  System system;
  std::chrono::nanoseconds length{0};
  bool json = false;
};

/// `wattle top`.
struct TopOptions {
  System system;
  bool once = false;                   ///< one table over `length`
  std::chrono::nanoseconds length{0};  ///< else the period
  TopKey key = TopKey::command;
  bool json = false;
  bool estimate = false;               ///< a range where no sensor covers the CPU
  std::vector<std::string> servers{};  ///< machines to follow instead of this one
  std::string token_file{};            ///< for their daemons; empty: none
  std::string ca_file{};               ///< likewise
  std::string record{};                ///< file to write; empty: none
  std::string replay{};                ///< file to show instead of a machine; empty: none
  double speed = 1.0;                  ///< of the replay
  bool ascii = false;
  std::vector<TopUnit> units{TopUnit{}};  ///< that an energy is shown in
};

struct SummaryOptions {
  std::string path;  ///< a folder, or one file; "-" is stdin
  std::optional<double> allocator_peak_mb{};
  std::optional<std::size_t> gpus_in_file{};
  bool json = false;
};

struct MonitorOptions {
  System system;
  std::string folder;
  std::vector<std::string> command;  ///< empty: until a signal comes
  std::chrono::nanoseconds interval{0};
  std::string gpus = "all";  ///< see gpu_choice.hpp
  bool overwrite = false;
  bool quiet = false;
};

enum class HistoryAction : std::uint8_t { list, show, remove, export_all, import, check };

/// `wattle history`.
struct HistoryOptions {
  HistoryAction action = HistoryAction::list;
  std::vector<std::string> words{};  ///< IDs, or files
  HistoryFilter filter{};
  bool json = false;
  bool csv = false;
};

enum class ConfigAction : std::uint8_t { list, get, set, unset };

/// `wattle config`.
struct ConfigOptions {
  ConfigAction action = ConfigAction::list;
  std::string name{};
  std::string value{};
};

/// `wattle report`.
struct ReportOptions {
  std::vector<std::string> words;  ///< files and IDs; not empty
  bool json = false;
  std::string html_path{};  ///< empty: none; "-": stdout, in place of the text
};

/// `wattle mark`.
struct MarkOptions {
  Mark mark{};
  bool quiet = false;
};

/// `wattle stream`: what follows is for a program of its own.
struct StreamWords {
  std::vector<std::string> words;
};

/// Nothing to run: a text was asked for, or the line was wrong.
struct Answer {
  std::string text;
  bool is_error = false;
  int exit_status = 0;
};

/// `wattle track`.
struct TrackOptions {
  TrackerOptions tracker;
  std::optional<std::chrono::nanoseconds> duration{};  ///< absent: until the process ends
  std::string json_path;                               ///< empty: none; "-": stdout
  std::optional<std::string> recovered_path{};         ///< a usage file to read instead
  bool estimate = false;                               ///< a range where no sensor covers the CPU
};

using Options = std::variant<RunOptions, SensorsOptions, DoctorOptions, PowerOptions, TrackOptions,
                             MonitorOptions, SummaryOptions, BenchOptions, CompareOptions,
                             HistoryOptions, ConfigOptions, MarkOptions, ReportOptions,
                             BaselineOptions, CalibrateOptions, TopOptions, StreamWords, Answer>;

/// Prints the text, and returns the exit status.
int execute(const Answer& answer);
/// What a sub-command, or "" for none, answers to a wrong command line.
[[nodiscard]] Answer usage_error(std::string_view command, std::string_view message);
/// Reads `argv`. Never throws for what the user wrote: that gives an `Answer`.
[[nodiscard]] Options parse_options(int argc, const char* const* argv);

/// "0.1" seconds to nanoseconds; throws `InvalidArgument`, which names the option, unless it is a
/// number from `least` to `most`.
[[nodiscard]] std::chrono::nanoseconds parse_seconds(const std::string& text,
                                                     std::string_view option, double least,
                                                     double most);

/// "0.1" seconds to nanoseconds; throws `InvalidArgument`, which names the option, unless it is a
/// number from 0.001 to 3600.
[[nodiscard]] std::chrono::nanoseconds parse_interval(const std::string& text,
                                                      std::string_view option = "--interval");

/// A wrong option of `wattle run`, or Wattle's own failure there: as env(1), timeout(1), nohup(1).
inline constexpr int kRunFailed = 125;
/// A wrong command line elsewhere: EX_USAGE of sysexits.h.
inline constexpr int kUsageError = 64;

}  // namespace wattle::app
