// The cost of one run, and which parts of it are compared.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/report.hpp"
#include "runs/log_ratio.hpp"

namespace wattle {

/// Absent: unknown. Threads: a value type.
struct RunCost {
  std::size_t round = 0;  ///< of a benchmark, from 1; 0: the run belongs to none
  double started_unix_s = 0.0;
  Seconds wall{0};
  std::optional<Joules> energy;
  std::optional<Joules> uncertainty{};  ///< k = 2; absent without energy
  /// The part of that which comes back (see `MeasuredEnergy`); absent without energy, and in files
  /// of old versions.
  std::optional<Joules> common{};
  std::vector<std::string> energy_domains{};  ///< that the energy is the sum of
  /// Time that is not in the energy; of a job: the longest of a node whose energy is in it.
  Seconds energy_unknown{0};
  Flags energy_flags{};  ///< of all domains in it
  /// Domains whose energy runs beside this one have. With any, no figure has its energy and power,
  /// which are smaller for that alone. See run_lacks.hpp.
  std::vector<std::string> missing_domains{};
  std::optional<Watts> mean_power;
  std::optional<Seconds> cpu_user;
  std::optional<Seconds> cpu_system;
  std::optional<std::uint64_t> peak_rss_bytes;
  std::vector<unsigned> ranks{};         ///< of a job of several: those that were recorded
  std::optional<unsigned> rank_count{};  ///< that the job has; absent: unknown
  std::size_t missing_ranks = 0;         ///< of a job of several records: ranks without one
  /// The run lacks ranks that runs beside it have, so that no figure has any of its costs, which
  /// are smaller for that alone. See run_lacks.hpp.
  bool lacks_ranks = false;
  /// CPU cores that everything else on the machine used.
  std::optional<double> other_cores{};
  std::optional<int> code;
  std::optional<int> signal{};
  std::vector<Exit> failed_ranks{};  ///< of a job: each rank that failed
};

[[nodiscard]] RunCost cost_of(const Report& report);

enum class Cost : std::uint8_t { energy, time, power, cpu, memory };
inline constexpr std::array kCosts = {Cost::energy, Cost::time, Cost::power, Cost::cpu,
                                      Cost::memory};
/// Those whose comparison is a sentence of its own.
inline constexpr std::array kCostsInSentences = {Cost::energy, Cost::time, Cost::cpu};

/// "energy", "time", "mean power", "CPU time", "peak memory".
[[nodiscard]] std::string_view name_of(Cost cost) noexcept;
/// The key in JSON, with the unit: "energy_j", "wall_s", "mean_w", "cpu_s", "peak_rss_bytes".
[[nodiscard]] std::string_view key_of(Cost cost) noexcept;
/// In the unit of the key; absent where unknown, or not for figures.
[[nodiscard]] std::optional<double> value_of(Cost cost, const RunCost& run) noexcept;
/// Those that are known. Peak memory: none where one is unknown, since the small ones are.
[[nodiscard]] std::vector<double> values_of(Cost cost, std::span<const RunCost> runs);
/// The summary of the known costs, with the ± of energies in the interval of the mean; absent if
/// none is known.
[[nodiscard]] std::optional<Summary> summary_of(Cost cost, std::span<const RunCost> runs);
/// "50.1 J", "12.3 ms", "80 W", "45.6 MB".
[[nodiscard]] std::string text_of(Cost cost, double value);

/// The cost of B compared with A.
struct Comparison {
  Cost cost = Cost::energy;
  std::optional<LogRatio> ratio;  ///< absent where one of both is unknown, or is 0
  bool is_paired = false;         ///< runs of the same round were compared with each other
  /// Why nothing is claimed, though there are enough runs: a sentence without its subject. Then the
  /// ratio has no interval.
  std::string doubt{};
};
/// `in_rounds`: runs of the same round took turns, in an order by chance.
[[nodiscard]] Comparison compare(Cost cost, std::span<const RunCost> a, std::span<const RunCost> b,
                                 bool in_rounds);
/// One sentence: "B uses 10.4 % less energy than A (95 %: 8.5 to 12.3)". Empty without a ratio.
[[nodiscard]] std::string sentence_of(const Comparison& comparison, std::string_view a,
                                      std::string_view b);
/// The same in figures: "-10.4 % (-12.3 to -8.5)".
[[nodiscard]] std::string change_text(const LogRatio& ratio);

}  // namespace wattle
