// Selects from the refusals of all providers those that a person should read, and how often.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sensors/sensor.hpp"
#include "wattle/refusal.hpp"

namespace wattle {

/// A refusal of the domain, or of its part `what` if that is not empty.
[[nodiscard]] SensorRefusal refusal_of(const Domain& domain, std::string_view what,
                                       std::string reason, std::string proof,
                                       std::string remedy = {});

/// Leaves out of `refused`, which is in the order of the providers:
///
/// - a domain that is in `read`: it is measured, through another interface;
/// - a domain that is refused already: one cause that has a remedy is enough;
/// - a place that may be a domain, if all domains are known without it;
/// - an interface that shows nothing, where another one shows the same devices, read or refused;
///   the platform alone is none of them;
/// - spare ways, where there is anything else to say about their devices.
[[nodiscard]] std::vector<SensorRefusal> worth_reporting(std::vector<SensorRefusal> refused,
                                                         const std::set<Domain>& read);

/// Takes out of `refused`, and returns, what is not measured because it is not there.
[[nodiscard]] std::vector<SensorRefusal> take_absent(std::vector<SensorRefusal>& refused);

/// True for an energy counter of one of these domains, whose energy is known: it is found from the
/// power then, and nothing is missing.
[[nodiscard]] bool is_of_counter(const SensorRefusal& refusal, const std::vector<Domain>& measured);

/// True for a refusal of everything that an interface to GPUs could show, which are there.
[[nodiscard]] bool hides_gpus(const SensorRefusal& refusal) noexcept;

/// True if every GPU of the machine is known, read or refused one by one: none is not known at all.
[[nodiscard]] bool knows_all_gpus(const std::vector<SensorRefusal>& refused) noexcept;

/// For users: what is absent is not missed.
[[nodiscard]] std::vector<Refusal> missing_of(const std::vector<SensorRefusal>& refused);

/// Several refusals that differ in nothing but what they are about.
struct SharedCause {
  SensorRefusal refusal;  ///< the first of them
  std::vector<std::string> subjects;
};

/// In the order of the first of each.
[[nodiscard]] std::vector<SharedCause> by_cause(const std::vector<SensorRefusal>& refused);

/// "package_0, dram_0: energy_uj is readable by root only", and in a line of its own what would
/// change that: "  fix: ...". Without the last line end.
[[nodiscard]] std::string cause_text(const SharedCause& cause);

/// Why a machine has no energy of a kind ("cpu", "dram", "gpu") though nothing was refused.
/// `has_cpu`: it has that of CPUs.
[[nodiscard]] std::string_view why_no_sensor(std::string_view kind, bool has_cpu) noexcept;

/// Writes to the log what a scope that nobody chose lacks: "energy is measured without package_0:
/// ...", a line for each cause, once in a process: a scope that is opened in a loop is no reason to
/// repeat it. Parts of other domains, and what is absent, are not missed. Threads: any.
void log_missing(std::string_view quantity, const std::vector<SensorRefusal>& refused);

}  // namespace wattle
