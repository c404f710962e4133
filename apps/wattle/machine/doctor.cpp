// `wattle doctor`: what cannot be measured here; cause, proof, remedy, risk.
#include "machine/doctor.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/json/json_write.hpp"
#include "base/text/option_words.hpp"
#include "cli/privileges.hpp"
#include "cli/shared_options.hpp"
#include "cli/subcommand.hpp"
#include "machine/doctor_text.hpp"
#include "machine/fix_facts.hpp"
#include "machine/fix_plan.hpp"
#include "output/output.hpp"
#include "sensors/providers.hpp"
#include "sensors/refusals.hpp"

namespace wattle::app {
namespace {

using Json = nlohmann::ordered_json;

Json refusal_json(const SensorRefusal& refusal) {
  return {{"source", refusal.source},
          {"subject", refusal.subject},
          {"reason", refusal.reason},
          {"proof", text_or_null(refusal.proof)},
          {"remedy", text_or_null(refusal.remedy)},
          {"risk", text_or_null(refusal.risk)}};
}

Json refusals_json(const std::vector<SensorRefusal>& refused) {
  return json_list(refused, refusal_json);
}

/// Every domain whose energy can be read, each once.
std::vector<Domain> readable_domains(const Survey& found) {
  std::vector<Domain> domains;
  for (const auto& sensor : found.sensors) {
    for (const Channel& channel : sensor->channels()) {
      const Domain& domain = channel.domain;
      if (!channel.gives_energy() || std::ranges::count(domains, domain) > 0) continue;
      domains.push_back(domain);
    }
  }
  return domains;
}

constexpr const char* kDoctorFooter = R"(
Exit status: 0 if all energy can be measured, 1 if a part cannot, 2 if none can, 64 for a wrong option,
125 if stdout cannot be written. With --fix: 0, 1 if no command helps here, 125 if a command fails.
)";

/// The options as they are written.
struct RawDoctor {
  DoctorOptions doctor;
  RawRoots roots;
  std::optional<std::string> fix;

  void add(CLI::App& command);
  [[nodiscard]] DoctorOptions checked(const CommandLine& line) const;
};

void RawDoctor::add(CLI::App& command) {
  command.footer(kDoctorFooter);
  CLI::Option* json = command.add_flag("--json", doctor.json, "As JSON on stdout");
  add_roots(command, roots);
  CLI::Option* fix_option =
      command
          .add_option("--fix", fix,
                      "Print the shell commands that allow more measurements, each with its risk: "
                      "cpu, gpu or daemon")
          ->type_name("WHAT")
          ->excludes(json);
  command.add_flag("-v,--verbose", doctor.verbose,
                   "Show the proof and the risk of each remedy too");
  command.add_flag("--apply", doctor.apply, "Run these commands (takes root)")->needs(fix_option);
}

DoctorOptions RawDoctor::checked(const CommandLine& /*line*/) const {
  constexpr WordTable<FixTarget, 3> kTargets = {
      {{"cpu", FixTarget::cpu}, {"gpu", FixTarget::gpu}, {"daemon", FixTarget::daemon}}};
  DoctorOptions options = doctor;
  options.system = system_of(roots);
  if (fix) options.fix = value_of_word("--fix", *fix, kTargets);
  return options;
}

/// The commands of --fix need none.
bool reports(const std::any& options) {
  return !std::any_cast<const DoctorOptions&>(options).fix.has_value();
}

}  // namespace

int execute(const DoctorOptions& options) {
  if (options.fix) return fix(options);
  Survey found =
      with_privileges([&] { return survey(options.system, machine_clock(), DomainKinds::all()); });
  const std::vector<SensorRefusal> absent = take_absent(found.refused);
  const std::vector<Domain> readable = readable_domains(found);
  const bool is_whole = std::ranges::all_of(found.refused, [&](const SensorRefusal& refusal) {
    return is_of_counter(refusal, readable);
  });

  constexpr int kAllReadable = 0;
  constexpr int kSomethingMissing = 1;
  constexpr int kNothingReadable = 2;
  const int status = readable.empty() ? kNothingReadable
                     : is_whole       ? kAllReadable
                                      : kSomethingMissing;

  std::vector<SensorRefusal> refused = found.refused;
  // If nothing is readable, also list where no device was found.
  if (readable.empty()) refused.insert(refused.end(), absent.begin(), absent.end());
  std::string text;
  if (options.json) {
    const Json json = {{"schema", "wattle.doctor/2"},
                       {"readable", names_of(readable)},
                       {"refused", refusals_json(found.refused)},
                       {"absent", refusals_json(absent)}};
    text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  } else {
    const auto can_be_fixed = [facts = find_facts(options.system)](FixTarget target) {
      return plan_fix(target, facts).obstacle.empty();
    };
    const Diagnosis diagnosis{.readable = readable,
                              .causes = by_cause(refused),
                              .cpu_can_be_fixed = can_be_fixed(FixTarget::cpu),
                              .gpu_can_be_fixed = can_be_fixed(FixTarget::gpu)};
    const TextStyle style = style_of(STDOUT_FILENO);
    text = options.verbose ? verbose_text(diagnosis, style) : short_text(diagnosis, style);
  }
  Output::open("-", false).write(text);
  return status;
}

extern constinit const Subcommand kDoctorSubcommand = {
    .name = "doctor",
    .group = HelpGroup::set_up,
    .summary = "List what cannot be measured here, why, and how to fix it",
    .add = add_options<RawDoctor>,
    .run = execute_with<DoctorOptions>,
    .opens_counters = reports};

}  // namespace wattle::app
