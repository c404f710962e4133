#include "machine/keep_measured.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/files/state_folder.hpp"
#include "base/text/text.hpp"
#include "sensors/kept_updates.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

/// The part that later runs use; absent where there is none.
std::optional<KeptUpdate> part_to_keep(const MeasuredChannel& found, const std::string& kind) {
  if (found.window && found.window->found) {
    return KeptUpdate{kind, update_of(*found.window->found), window_of(*found.window->found)};
  }
  const bool is_known = found.seen && found.seen->doubt == PeriodDoubt::none;
  if (found.channel.metric != Metric::energy || !is_known) return std::nullopt;
  return KeptUpdate{.sensor = kind,
                    .update = found.seen->interval,
                    .feed = found.feed.value_or(CounterFeed::unknown)};
}

}  // namespace

std::vector<std::pair<Channel, std::string>> sensor_kinds(const std::vector<Survey>& surveys) {
  std::vector<std::pair<Channel, std::string>> kinds;
  for (const Survey& found : surveys) {
    for (const auto& sensor : found.sensors) {
      for (const Channel& channel : sensor->channels()) {
        if (!channel.gives_energy()) continue;
        kinds.emplace_back(channel, sensor_kind(channel, sensor->device()));
      }
    }
  }
  return kinds;
}

std::string keep_measured(const std::vector<MeasuredChannel>& measured,
                          const std::vector<std::pair<Channel, std::string>>& kinds) {
  std::vector<KeptUpdate> kept;
  for (const auto& [channel, kind] : kinds) {
    const MeasuredChannel* const found = find(measured, channel);
    if (found == nullptr || found->channel.source != channel.source) continue;
    std::optional<KeptUpdate> one = part_to_keep(*found, kind);
    const bool is_new = std::ranges::find(kept, kind, &KeptUpdate::sensor) == kept.end();
    if (one && is_new) kept.push_back(std::move(*one));
  }
  if (kept.empty()) return {};
  for (KeptUpdate& before : kept_updates()) {
    const auto again = std::ranges::find(kept, before.sensor, &KeptUpdate::sensor);
    if (again == kept.end()) {
      kept.push_back(std::move(before));
    } else if (again->feed == CounterFeed::unknown) {
      again->feed = before.feed;
    }
  }
  try {
    const std::string path = updates_path();
    put_in_state_folder(path, to_json(kept));
    return fmt::format("\nkept for later runs: {}\n", path);
  } catch (const Error& error) {
    return fmt::format("\nnot kept for later runs: {}\n", printable(error.what()));
  }
}

}  // namespace wattle::app
