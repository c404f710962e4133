#include "sensors/kept_updates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <optional>
#include <utility>

#include "base/files/file.hpp"
#include "base/files/state_folder.hpp"
#include "base/json/json_read.hpp"
#include "base/json/json_write.hpp"
#include "base/text/text.hpp"

namespace wattle {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::nanoseconds;

constexpr std::string_view kUpdatesSchema = "wattle.updates/1";
constexpr std::size_t kMostUpdatesBytes = std::size_t{256} << 10U;
constexpr std::size_t kMostUpdates = 1024;

/// Absent where no sensor has such an interval.
std::optional<nanoseconds> interval_in(const Json& json, const char* key) {
  constexpr double kLongestS = 60.0;
  double seconds = -1.0;
  take_member(json, key, seconds);
  if (!(seconds >= 0.0) || seconds > kLongestS) return std::nullopt;
  return nanoseconds(std::llround(seconds * 1e9));
}

/// Has intervals of its own in place of those that are published.
class MeasuredSensor final : public ForwardingSensor {
 public:
  MeasuredSensor(std::shared_ptr<Sensor> sensor, std::vector<Channel> channels)
      : ForwardingSensor(std::move(sensor)), channels_(std::move(channels)) {}
  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }

 private:
  std::vector<Channel> channels_;
};

}  // namespace

std::string sensor_kind(const Channel& channel, const DeviceInfo* device) {
  const std::string model =
      device != nullptr ? fmt::format(" {} {}", device->model, device->driver) : "";
  return printable(fmt::format("{} {} {}{}", channel.source, to_string(channel.metric),
                               channel.domain.kind_name(), model));
}

std::string to_json(const std::vector<KeptUpdate>& kept) {
  const auto seconds = [](nanoseconds time) { return Seconds(time).count(); };
  Json sensors = Json::array();
  for (const KeptUpdate& one : kept) {
    sensors.push_back({{"sensor", one.sensor},
                       {"mean_s", seconds(one.update.mean)},
                       {"spread_s", seconds(one.update.spread)},
                       {"p99_s", seconds(one.update.p99)}});
    if (one.window) sensors.back()["window_s"] = seconds(*one.window);
    if (one.feed != CounterFeed::unknown) sensors.back()["counter"] = to_string(one.feed);
  }
  return dumped({{"schema", kUpdatesSchema}, {"sensors", std::move(sensors)}}) + "\n";
}

std::vector<KeptUpdate> parse_updates(std::string_view text) {
  if (text.size() > kMostUpdatesBytes) return {};
  const Json json = parse_json(text);
  std::string schema;
  take_member(json, "schema", schema);
  if (schema != kUpdatesSchema) return {};
  std::vector<KeptUpdate> kept;
  for_each_object(at(json, "sensors"), [&](const Json& object) {
    KeptUpdate one;
    take_member(object, "sensor", one.sensor);
    const auto mean = interval_in(object, "mean_s");
    const auto spread = interval_in(object, "spread_s");
    const auto p99 = interval_in(object, "p99_s");
    const bool is_possible = mean && spread && p99 && *mean > nanoseconds(0) && *p99 >= *mean;
    if (!is_possible || kept.size() == kMostUpdates) return;
    one.update = {.mean = *mean, .spread = *spread, .p99 = *p99, .is_observed = true};
    const auto window = interval_in(object, "window_s");
    if (window && *window > nanoseconds(0) && *window <= *mean) one.window = window;
    std::string feed;
    take_member(object, "counter", feed);
    for (const CounterFeed known : {CounterFeed::own, CounterFeed::fed}) {
      if (feed == to_string(known)) one.feed = known;
    }
    kept.push_back(std::move(one));
  });
  return kept;
}

std::string updates_path() { return host_state_file("updates", this_host()); }

std::vector<KeptUpdate> kept_updates() noexcept {
  try {
    const auto text = read_file(updates_path(), kMostUpdatesBytes);
    return text ? parse_updates(*text) : std::vector<KeptUpdate>();
  } catch (const std::exception&) {
    return {};  // no state folder, or no memory
  }
}

std::vector<std::unique_ptr<Sensor>> with_kept_updates(std::vector<std::unique_ptr<Sensor>> sensors,
                                                       const std::vector<KeptUpdate>& kept) {
  if (kept.empty()) return sensors;
  for (std::unique_ptr<Sensor>& sensor : sensors) {
    std::vector<Channel> channels(sensor->channels().begin(), sensor->channels().end());
    bool is_any = false;
    for (Channel& channel : channels) {
      const auto found =
          std::ranges::find(kept, sensor_kind(channel, sensor->device()), &KeptUpdate::sensor);
      if (found == kept.end()) continue;
      channel.update = found->update;
      const bool is_found = found->feed != CounterFeed::unknown && channel.metric == Metric::energy;
      if (is_found) channel.counter.feed = found->feed;
      const bool is_open = !channel.gauge.window && !channel.gauge.time_constant;
      if (found->window && is_open && channel.metric == Metric::power_instant) {
        channel.gauge.window = found->window;
        channel.gauge.coverage = Seconds(*found->window) / Seconds(found->update.mean);
      }
      is_any = true;
    }
    if (is_any) sensor = std::make_unique<MeasuredSensor>(std::move(sensor), std::move(channels));
  }
  return sensors;
}

Survey with_kept_updates(Survey found) {
  found.sensors = with_kept_updates(std::move(found.sensors), kept_updates());
  return found;
}

}  // namespace wattle
