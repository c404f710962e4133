// The power of an idle machine, as the user measured it once.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "estimate/energy_share.hpp"
#include "wattle/energy.hpp"
#include "wattle/system.hpp"
#include "wattle/units.hpp"

namespace wattle {

/// Which machine, since which boot, and how it was set up.
struct MachineIdentity {
  std::string host;
  std::string boot_id;
  /// A hash of the processor's model, number of threads, governor, turbo, SMT and memory: 16
  /// hexadecimal digits.
  std::string configuration;
};
[[nodiscard]] MachineIdentity identity_of(const System& system);

struct Baseline {
  MachineIdentity machine;
  double taken_unix_s = 0.0;
  double length_s = 0.0;
  std::vector<std::string> domains;  ///< whose power it is, together; sorted
  Watts mean;
  Watts deviation;                     ///< standard deviation of means over a second
  std::optional<Watts> uncertainty{};  ///< of the mean, k = 2; absent where it is not known
  Flags flags{};                       ///< of the energy that it is from
  double busy_cpus = 0.0;              ///< CPU cores in use at that time
  std::vector<std::string> running;    ///< what used most of them: "sshd 0.02"

  [[nodiscard]] IdleRange power() const noexcept;
};

/// The remedy if idle power is unknown.
inline constexpr const char* kBaselineHint =
    "wattle baseline measures it while the machine is idle";
/// Why idle power is unknown where nobody has measured it.
inline constexpr const char* kNoBaseline =
    "idle power is unknown; wattle baseline measures it while the machine is idle";
/// How long a baseline holds.
inline constexpr double kBaselineHoldsSeconds = 24.0 * 3600.0;
/// More CPU cores in use than this part of all make no baseline; but a quarter of one always may.
inline constexpr double kMostBusyPart = 0.05;

/// True if a machine of `threads` hardware threads was too busy for a baseline.
[[nodiscard]] bool is_under_load(double busy_cpus, double threads) noexcept;

/// One line of JSON, `wattle.baseline/1`.
[[nodiscard]] std::string to_json(const Baseline& baseline);
/// Absent where the text is none, or its figures are not possible.
[[nodiscard]] std::optional<Baseline> parse_baseline(std::string_view text);

/// Why the baseline does not hold for this machine, these domains (sorted), now; empty if it does.
[[nodiscard]] std::string why_not_usable(const Baseline& baseline, const MachineIdentity& machine,
                                         const std::vector<std::string>& domains,
                                         double now_unix_s);
/// "idle by the baseline of 2026-11-24 23:50 UTC: 41.20 W ±0.11 W over 30 s".
[[nodiscard]] std::string baseline_text(const Baseline& baseline);
/// Why it is not used where a machine drew less; `text`: its `baseline_text`.
[[nodiscard]] std::string below_idle_text(std::string_view text);

/// The file of a host, in the state folder; throws `Error` where there is no such folder.
[[nodiscard]] std::string baseline_path(std::string_view host);
/// The kept baseline of this host. Either a baseline, or why there is none.
struct KeptBaseline {
  std::optional<Baseline> baseline{};
  std::string unknown{};
};
[[nodiscard]] KeptBaseline read_baseline(std::string_view host);
[[nodiscard]] KeptBaseline read_baseline_file(const std::string& path);

}  // namespace wattle
