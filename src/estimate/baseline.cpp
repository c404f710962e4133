#include "estimate/baseline.hpp"

#include <fmt/chrono.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/files/file.hpp"
#include "base/files/state_folder.hpp"
#include "base/json/json_fields.hpp"
#include "base/json/json_write.hpp"
#include "base/text/flags_text.hpp"
#include "base/text/quantity.hpp"
#include "base/text/text.hpp"
#include "sampling/energy_fields.hpp"
#include "sensors/cpu_info.hpp"
#include "sensors/proc_tables.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "wattle.baseline/1";
constexpr std::size_t kMostBaselineBytes = std::size_t{64} << 10U;

std::string configuration_of(const System& system) {
  constexpr std::array<std::string_view, 5> kSettings = {
      "devices/system/cpu/cpu0/cpufreq/scaling_governor",
      "devices/system/cpu/cpu0/cpufreq/energy_performance_preference",
      "devices/system/cpu/cpufreq/boost", "devices/system/cpu/intel_pstate/no_turbo",
      "devices/system/cpu/smt/control"};
  std::string text = read_cpu_info(system).model_name;
  for (const std::string_view setting : kSettings) {
    text += "\n" + read_line((system.sysfs / setting).string()).value_or("");
  }
  const auto times = ProcStat(system).read();
  const auto meminfo = read_file((system.procfs / "meminfo").string());
  const auto memory = meminfo ? parse_memory(*meminfo) : std::nullopt;
  text += fmt::format("\n{} {}", times ? times->processors : 0, memory ? memory->total_bytes : 0);
  return fmt::format("{:016x}", hash_of(text));
}

std::string minute_text(double unix_s) {
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(static_cast<std::time_t>(unix_s)));
}

/// A string that can be printed; absent where it is something else.
std::optional<std::string> string_member(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) return std::nullopt;
  return printable(found->get_ref<const std::string&>());
}

/// From 0 to `most`.
std::optional<double> number_in(const Json& json, const char* key, double most) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number()) return std::nullopt;
  const auto value = found->get<double>();
  return value >= 0.0 && value <= most ? std::optional(value) : std::nullopt;
}

std::optional<std::vector<std::string>> texts_in(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_array() || found->size() > 1000) return std::nullopt;
  std::vector<std::string> texts;
  for (const Json& text : *found) {
    if (!text.is_string()) return std::nullopt;
    texts.push_back(printable(text.get_ref<const std::string&>()));
  }
  return texts;
}

}  // namespace

MachineIdentity identity_of(const System& system) {
  const std::string boot_id = (system.procfs / "sys/kernel/random/boot_id").string();
  return {.host = this_host(),
          .boot_id = printable(read_line(boot_id).value_or("")),
          .configuration = configuration_of(system)};
}

IdleRange Baseline::power() const noexcept {
  // Fans and temperature change idle power by a few percent from one half minute to the next.
  constexpr double kDrift = 0.03;
  const Watts spread = std::max(deviation * 2.0, mean * kDrift);
  return {.low = std::max(mean - spread, Watts(0.0)),
          .typical = mean,
          .high = mean + spread,
          .busy_cpus = busy_cpus};
}

bool is_under_load(double busy_cpus, double threads) noexcept {
  constexpr double kAlwaysAllowed = 0.25;
  return busy_cpus > std::max(kMostBusyPart * threads, kAlwaysAllowed);
}

std::string to_json(const Baseline& baseline) {
  const Json json = {{"schema", kSchema},
                     {"host", baseline.machine.host},
                     {"boot_id", baseline.machine.boot_id},
                     {"configuration", baseline.machine.configuration},
                     {"taken_unix_s", baseline.taken_unix_s},
                     {"length_s", baseline.length_s},
                     {"domains", baseline.domains},
                     {"mean_w", baseline.mean.si()},
                     {"deviation_w", baseline.deviation.si()},
                     {"uncertainty_w", or_null(baseline.uncertainty)},
                     {"flags", json_of(baseline.flags)},
                     {"busy_cpus", baseline.busy_cpus},
                     {"running", baseline.running}};
  return dumped(json) + "\n";
}

std::optional<Baseline> parse_baseline(std::string_view text) {
  constexpr double kMostSeconds = 1e11;
  constexpr double kMostWatts = 1e6;
  constexpr double kMostCpus = 1e5;
  if (text.size() > kMostBaselineBytes) return std::nullopt;
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || string_member(json, "schema") != kSchema) return std::nullopt;
  const auto host = string_member(json, "host");
  const auto boot_id = string_member(json, "boot_id");
  const auto configuration = string_member(json, "configuration");
  const auto taken = number_in(json, "taken_unix_s", kMostSeconds);
  const auto length = number_in(json, "length_s", kMostSeconds);
  auto domains = texts_in(json, "domains");
  const auto mean = number_in(json, "mean_w", kMostWatts);
  const auto deviation = number_in(json, "deviation_w", kMostWatts);
  const auto uncertainty = number_in(json, "uncertainty_w", kMostWatts);
  Flags flags;
  take_member(json, "flags", flags);
  const auto busy = number_in(json, "busy_cpus", kMostCpus);
  auto running = texts_in(json, "running");
  const bool has_all = host && boot_id && configuration && taken && length && domains && mean &&
                       deviation && busy && running;
  if (!has_all) return std::nullopt;
  return Baseline{.machine = {*host, *boot_id, *configuration},
                  .taken_unix_s = *taken,
                  .length_s = *length,
                  .domains = std::move(*domains),
                  .mean = Watts(*mean),
                  .deviation = Watts(*deviation),
                  .uncertainty = uncertainty ? std::optional(Watts(*uncertainty)) : std::nullopt,
                  .flags = flags,
                  .busy_cpus = *busy,
                  .running = std::move(*running)};
}

std::string why_not_usable(const Baseline& baseline, const MachineIdentity& machine,
                           const std::vector<std::string>& domains, double now_unix_s) {
  const double age_s = now_unix_s - baseline.taken_unix_s;
  std::string reason;
  if (baseline.machine.host != machine.host) {
    reason = fmt::format("the baseline is of another machine, {}", baseline.machine.host);
  } else if (baseline.machine.boot_id != machine.boot_id) {
    reason = "the machine was restarted since its baseline";
  } else if (baseline.machine.configuration != machine.configuration) {
    reason = "CPU, memory or power settings changed since the baseline";
  } else if (age_s > kBaselineHoldsSeconds || age_s < 0.0) {
    reason = fmt::format("the baseline is of {}, more than a day ago",
                         minute_text(baseline.taken_unix_s));
    if (age_s < 0.0) reason = "the baseline is from the future: the wall clock was set";
  } else if (baseline.domains != domains) {
    reason = fmt::format("the baseline is of {}, and {} were measured",
                         fmt::join(baseline.domains, ", "), fmt::join(domains, ", "));
  } else {
    return {};
  }
  return fmt::format("idle power is unknown: {}; {}", reason, kBaselineHint);
}

std::string baseline_text(const Baseline& baseline) {
  const std::string mean =
      baseline.uncertainty ? to_text(baseline.mean, *baseline.uncertainty) : to_text(baseline.mean);
  return with_doubts(
      fmt::format("idle by the baseline of {}: {} over {}", minute_text(baseline.taken_unix_s),
                  mean, to_text(Seconds(baseline.length_s))),
      baseline.flags);
}

std::string below_idle_text(std::string_view text) {
  return fmt::format("idle power is unknown: the machine drew less than {}; {}", text,
                     kBaselineHint);
}

std::string baseline_path(std::string_view host) { return host_state_file("baseline", host); }

KeptBaseline read_baseline(std::string_view host) {
  std::string path;
  try {
    path = baseline_path(host);
  } catch (const Error& error) {
    return {.unknown = fmt::format("idle power is unknown: {}", error.what())};
  }
  return read_baseline_file(path);
}

KeptBaseline read_baseline_file(const std::string& path) {
  errno = 0;
  const auto text = read_file(path, kMostBaselineBytes);
  const int error = errno;
  if (!text && error != ENOENT && error != ENOTDIR) {
    return {.unknown = fmt::format("idle power is unknown: cannot read {}: {}", printable(path),
                                   std::generic_category().message(error))};
  }
  if (!text) return {.unknown = kNoBaseline};
  KeptBaseline kept{.baseline = parse_baseline(*text)};
  if (!kept.baseline) {
    kept.unknown =
        fmt::format("idle power is unknown: {} is damaged; {}", printable(path), kBaselineHint);
  }
  return kept;
}

}  // namespace wattle
