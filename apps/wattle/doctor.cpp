// `wattle doctor`: what cannot be measured here; cause, proof, remedy, risk.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "commands.hpp"
#include "output.hpp"
#include "sensors/providers.hpp"

namespace wattle::app {
namespace {

using Json = nlohmann::ordered_json;

std::string labelled(std::string_view label, const std::string& text) {
  return text.empty() ? "" : fmt::format("  {:<8}{}\n", label, text);
}

std::string refusal_text(const Refusal& refusal) {
  return fmt::format("{} ({}) is not measured\n", refusal.subject, refusal.source) +
         labelled("cause", refusal.reason) + labelled("proof", refusal.proof) +
         labelled("remedy", refusal.remedy) + labelled("risk", refusal.risk);
}

Json refusal_json(const Refusal& refusal) {
  const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
  return {{"source", refusal.source},       {"subject", refusal.subject},
          {"cause", refusal.reason},        {"proof", text(refusal.proof)},
          {"remedy", text(refusal.remedy)}, {"risk", text(refusal.risk)}};
}

}  // namespace

int doctor(const DoctorOptions& options) {
  const Survey found = survey(options.system, machine_clock());
  std::string readable;
  Json domains = Json::array();
  for (const auto& sensor : found.sensors) {
    for (const Channel& channel : sensor->channels()) {
      if (!readable.empty()) readable += ", ";
      readable += channel.domain.name();
      domains.push_back(channel.domain.name());
    }
  }
  constexpr int kAllReadable = 0;
  constexpr int kSomethingMissing = 1;
  constexpr int kNothingReadable = 2;
  const int status = readable.empty()        ? kNothingReadable
                     : found.refused.empty() ? kAllReadable
                                             : kSomethingMissing;

  std::string text =
      readable.empty() ? "nothing can be measured here\n" : fmt::format("readable: {}\n", readable);
  Json refused = Json::array();
  for (const Refusal& refusal : found.refused) {
    text += "\n" + refusal_text(refusal);
    refused.push_back(refusal_json(refusal));
  }
  if (options.json) {
    const Json json = {{"schema", "wattle.doctor/1"}, {"readable", domains}, {"refused", refused}};
    text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  Output::open("-", false).write(text);
  return status;
}

}  // namespace wattle::app
