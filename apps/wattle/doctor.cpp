// `wattle doctor`: what cannot be measured here; cause, proof, remedy, risk.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "commands.hpp"
#include "output.hpp"
#include "sensors/providers.hpp"
#include "sensors/refusals.hpp"

namespace wattle::app {
namespace {

using Json = nlohmann::ordered_json;

std::string labelled(std::string_view label, const std::string& text) {
  return text.empty() ? "" : fmt::format("  {:<8}{}\n", label, text);
}

std::string cause_text(const SharedCause& cause) {
  const Refusal& refusal = cause.refusal;
  return fmt::format("{} ({}) {} not measured\n", fmt::join(cause.subjects, ", "), refusal.source,
                     cause.subjects.size() == 1 ? "is" : "are") +
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
std::vector<std::string> readable_domains(const Survey& found) {
  std::vector<std::string> names;
  for (const auto& sensor : found.sensors) {
    for (const Channel& channel : sensor->channels()) {
      if (!channel.tells_energy()) continue;
      std::string name = channel.domain.name();
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
  }
  return names;
}

}  // namespace

int doctor(const DoctorOptions& options) {
  Survey found = survey(options.system, machine_clock(), Asked::all);
  const std::vector<Refusal> absent = take_absent(found.refused);
  const std::vector<std::string> readable = readable_domains(found);

  constexpr int kAllReadable = 0;
  constexpr int kSomethingMissing = 1;
  constexpr int kNothingReadable = 2;
  const int status = readable.empty()        ? kNothingReadable
                     : found.refused.empty() ? kAllReadable
                                             : kSomethingMissing;

  std::string text = readable.empty() ? "nothing can be measured here\n"
                                      : fmt::format("readable: {}\n", fmt::join(readable, ", "));
  for (const SharedCause& cause : by_cause(found.refused)) text += "\n" + cause_text(cause);
  if (options.json) {
    const Json json = {{"schema", "wattle.doctor/1"},
                       {"readable", readable},
                       {"refused", refusals_json(found.refused)},
                       {"absent", refusals_json(absent)}};
    text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  Output::open("-", false).write(text);
  return status;
}

}  // namespace wattle::app
