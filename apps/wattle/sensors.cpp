// `wattle sensors`: what can be measured here, and through what.
#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "commands.hpp"
#include "output.hpp"
#include "report/quantity.hpp"
#include "sampling/counter.hpp"
#include "sensors/providers.hpp"

namespace wattle::app {
namespace {

using Json = nlohmann::ordered_json;

/// Time in which the greatest power takes the counter once around; absent where that is unknown.
std::optional<Seconds> shortest_wrap(const CounterTraits& counter) {
  if (counter.modulus == 0) return std::nullopt;
  return Seconds(static_cast<double>(counter.modulus) * counter.tick.si() / counter.max_power.si());
}

Json channel_json(const Channel& channel) {
  const auto wrap = shortest_wrap(channel.counter);
  return {{"domain", channel.domain.name()},
          {"quantity", "energy"},
          {"source", channel.source},
          {"place", channel.place},
          {"tick_j", channel.counter.tick.si()},
          {"modulus_ticks", channel.counter.modulus != 0 ? Json(channel.counter.modulus) : Json()},
          {"max_power_w", channel.counter.max_power.si()},
          {"shortest_wrap_s", wrap ? Json(wrap->count()) : Json()},
          {"update_interval_s", Seconds(channel.update.mean).count()},
          {"contained_in", channel.contained_in ? Json(channel.contained_in->name()) : Json()},
          {"counts_in_total", counts_in_total(channel.domain.kind())}};
}

std::string channel_text(const Channel& channel) {
  const auto wrap = shortest_wrap(channel.counter);
  std::string text = fmt::format(
      "{:<18} energy counter, {} a tick, {}\n{:<18}   {}: {}\n", channel.domain.name(),
      to_text(channel.counter.tick),
      wrap ? fmt::format("wraps after {} at {}", to_text(*wrap), to_text(channel.counter.max_power))
           : "wrap unknown",
      "", channel.source, channel.place);
  if (channel.contained_in) {
    text +=
        fmt::format("{:<18}   inside {}, not added to a total\n", "", channel.contained_in->name());
  }
  return text;
}

}  // namespace

int sensors(const SensorsOptions& options) {
  const Survey found = survey(options.system, machine_clock());
  std::string text;
  Json channels = Json::array();
  for (const auto& sensor : found.sensors) {
    for (const Channel& channel : sensor->channels()) {
      text += channel_text(channel);
      channels.push_back(channel_json(channel));
    }
  }
  Json refused = Json::array();
  for (const Refusal& refusal : found.refused) {
    text += fmt::format("{:<18} not read: {}\n", refusal.subject, refusal.reason);
    refused.push_back({{"source", refusal.source},
                       {"subject", refusal.subject},
                       {"reason", refusal.reason},
                       {"hint", refusal.remedy.empty() ? Json() : Json(refusal.remedy)}});
  }
  if (!found.refused.empty()) text += "\nwattle doctor says what to do.\n";
  if (options.json) {
    const Json json = {
        {"schema", "wattle.sensors/1"}, {"channels", channels}, {"refused", refused}};
    text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  Output::open("-", false).write(text);
  return 0;
}

}  // namespace wattle::app
