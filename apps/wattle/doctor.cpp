// `wattle doctor`: what cannot be measured here; cause, proof, remedy, risk.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "commands.hpp"
#include "output.hpp"
#include "privileges.hpp"
#include "sensors/providers.hpp"
#include "sensors/refusals.hpp"

namespace wattle::app {
namespace {

using Json = nlohmann::ordered_json;

std::string labelled(std::string_view label, const std::string& text) {
  return text.empty() ? "" : fmt::format("  {:<8}{}\n", label, text);
}

std::string verdict(const SharedCause& cause, const std::vector<Domain>& readable) {
  const bool is_one = cause.subjects.size() == 1;
  if (cause.refusal.absent) return is_one ? "is not there" : "are not there";
  // They share the cause, and so the kind of what they are.
  if (is_of_counter(cause.refusal, readable)) return "has no counter: it is found from the power";
  return is_one ? "is not measured" : "are not measured";
}

std::string cause_text(const SharedCause& cause, const std::vector<Domain>& readable) {
  const Refusal& refusal = cause.refusal;
  return fmt::format("{} ({}) {}\n", fmt::join(cause.subjects, ", "), refusal.source,
                     verdict(cause, readable)) +
         labelled("cause", refusal.reason) + labelled("proof", refusal.proof) +
         labelled("remedy", refusal.remedy) + labelled("risk", refusal.risk);
}

Json refusal_json(const Refusal& refusal) {
  const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
  return {{"source", refusal.source},       {"subject", refusal.subject},
          {"cause", refusal.reason},        {"proof", text(refusal.proof)},
          {"remedy", text(refusal.remedy)}, {"risk", text(refusal.risk)}};
}

Json refusals_json(const std::vector<Refusal>& refused) {
  Json list = Json::array();
  for (const Refusal& refusal : refused) list.push_back(refusal_json(refusal));
  return list;
}

/// Every domain whose energy can be told, each once.
std::vector<Domain> readable_domains(const Survey& found) {
  std::vector<Domain> domains;
  for (const auto& sensor : found.sensors) {
    for (const Channel& channel : sensor->channels()) {
      const Domain& domain = channel.domain;
      if (!channel.tells_energy() || std::ranges::count(domains, domain) > 0) continue;
      domains.push_back(domain);
    }
  }
  return domains;
}

std::vector<std::string> names_of(const std::vector<Domain>& domains) {
  std::vector<std::string> names;
  names.reserve(domains.size());
  for (const Domain& domain : domains) names.push_back(domain.name());
  return names;
}

}  // namespace

int doctor(const DoctorOptions& options) {
  Survey found =
      with_privileges([&] { return survey(options.system, machine_clock(), Asked::all); });
  const std::vector<Refusal> absent = take_absent(found.refused);
  const std::vector<Domain> readable = readable_domains(found);
  const std::vector<std::string> names = names_of(readable);
  const bool is_whole = std::ranges::all_of(
      found.refused, [&](const Refusal& refusal) { return is_of_counter(refusal, readable); });

  constexpr int kAllReadable = 0;
  constexpr int kSomethingMissing = 1;
  constexpr int kNothingReadable = 2;
  const int status = readable.empty() ? kNothingReadable
                     : is_whole       ? kAllReadable
                                      : kSomethingMissing;

  std::string text =
      readable.empty()
          ? "no energy can be measured here; CPU time and memory can: wattle run, track\n"
          : fmt::format("readable: {}\n", fmt::join(names, ", "));
  std::vector<Refusal> told = found.refused;
  // Who has nothing wants to know where it was looked for.
  if (readable.empty()) told.insert(told.end(), absent.begin(), absent.end());
  for (const SharedCause& cause : by_cause(told)) text += "\n" + cause_text(cause, readable);
  if (options.json) {
    const Json json = {{"schema", "wattle.doctor/1"},
                       {"readable", names},
                       {"refused", refusals_json(found.refused)},
                       {"absent", refusals_json(absent)}};
    text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  Output::open("-", false).write(text);
  return status;
}

}  // namespace wattle::app
