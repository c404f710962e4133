// `wattle doctor`: what cannot be measured here; cause, proof, remedy, risk.
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/json/json_write.hpp"
#include "cli/commands.hpp"
#include "cli/privileges.hpp"
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
  Json list = Json::array();
  for (const SensorRefusal& refusal : refused) list.push_back(refusal_json(refusal));
  return list;
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

}  // namespace wattle::app
