#include "sensors/cray/cray.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/files/fd.hpp"
#include "base/files/file.hpp"
#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "sensors/known_sensors.hpp"
#include "sensors/read_status.hpp"
#include "sensors/refusals.hpp"
#include "sensors/sensor.hpp"

namespace wattle::cray {
namespace {

/// The name of the provider, and what the names of its domains start with.
constexpr const char* kSource = "cray";
constexpr const char* kReadable =
    "every user may read these files where the machine's software is as delivered: ask its "
    "administrators";

/// Room for two numbers of 20 digits with their units.
using StatedText = std::array<char, 64>;

/// The file of a channel, open for reading.
struct CounterFile {
  Fd file;
  std::string_view unit;    ///< "J" or "W"
  std::uint64_t at_us = 0;  ///< of the value that was read last, as the file states it
  TimePoint renewed{};      ///< when another time was first seen there
};

/// Reads a value, and keeps when it was taken.
AttributeValue read_value(CounterFile& counter) noexcept {
  const auto take = [&](std::string_view text) -> std::optional<std::uint64_t> {
    const auto value = parse_stated_value(text, counter.unit);
    if (!value) return std::nullopt;
    // Without a time each reading passes for a new one.
    if (value->at_us == 0 || value->at_us != counter.at_us) counter.renewed = TimePoint{};
    counter.at_us = value->at_us;
    return value->raw;
  };
  return read_attribute<StatedText>(counter.file, take);
}

/// A value whose time has stayed as it was for `kOldest` is `stale`: the controller does not answer
/// the node any more. Threads: one at a time.
class NodeSensor final : public Sensor {
 public:
  /// Ten of the controller's looks.
  static constexpr std::chrono::nanoseconds kOldest = std::chrono::seconds(1);

  NodeSensor(std::vector<Channel> channels, std::vector<CounterFile> files,
             const TimeSource& clock);

  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  void read_some(ChannelSet wanted, std::span<Reading> readings) noexcept override;

 private:
  const std::vector<Channel> channels_;
  std::vector<CounterFile> files_;
  const TimeSource& clock_;
};

NodeSensor::NodeSensor(std::vector<Channel> channels, std::vector<CounterFile> files,
                       const TimeSource& clock)
    : channels_(std::move(channels)), files_(std::move(files)), clock_(clock) {}

void NodeSensor::read_some(ChannelSet wanted, std::span<Reading> readings) noexcept {
  read_in_turn(clock_, wanted, files_.size(), readings,
               [&](std::size_t i) { return read_value(files_[i]); });
  for (std::size_t i = 0; i < std::min(readings.size(), files_.size()); ++i) {
    if (!wanted[i] || readings[i].status != ReadStatus::ok) continue;
    TimePoint& renewed = files_[i].renewed;
    if (renewed == TimePoint{}) renewed = readings[i].at;
    if (readings[i].at - renewed > kOldest) readings[i].status = ReadStatus::stale;
  }
}

SensorRefusal nothing_found(const std::string& folder, int error) {
  const bool is_absent = error == ENOENT || error == 0;
  return {.subject = "power counters of HPE Cray",
          .reason = is_absent ? "this is no node of an HPE Cray machine"
                              : "the list of counters cannot be read",
          .proof =
              fmt::format("{}: {}", folder,
                          error == 0 ? "holds no counter" : std::generic_category().message(error)),
          .remedy = is_absent ? "" : kReadable,
          .absent = is_absent,
          .scope = is_absent ? RefusalScope::spare : RefusalScope::interface};
}

SensorRefusal unreadable(const Domain& domain, const std::string& path, int error) {
  if (error == 0) {
    return refusal_of(domain, {}, "the controller gives no value",
                      path + " holds no number with its unit");
  }
  const std::string cause = std::generic_category().message(error);
  SensorRefusal refused = refusal_of(domain, {}, "the counter cannot be read: " + cause,
                                     path_with_mode(path), kReadable);
  if (error == EACCES) refused.denied_path = path;
  return refused;
}

Channel channel_of(const CounterName& name, const std::string& path) {
  const Domain domain = Domain::custom(kSource, name.part);
  Channel channel{.domain = domain,
                  .counter = {.tick = Joules(1.0), .max_power = traits_of(domain).max_power},
                  .update = kCrayUpdate,
                  .source = kSource,
                  .place = path,
                  .metric = name.metric};
  if (name.part != kNode) channel.contained_in = Domain::custom(kSource, kNode);
  return channel;
}

/// A slot without an accelerator has files, too, which stay at 0.
bool is_empty_slot(const CounterName& name, const AttributeValue& value) {
  return name.part.starts_with("accel") && value.raw == 0U;
}

/// "cpu", "memory", "accel", and each with a number: "accel0".
bool is_known_part(std::string_view part) noexcept {
  constexpr std::size_t kMostDigits = 9;  // longer names are no names of domains
  const std::size_t length = part.size();
  while (!part.empty() && is_digit(part.back())) part.remove_suffix(1);
  if (length - part.size() > kMostDigits) return false;
  return part == "cpu" || part == "memory" || part == "accel";
}

}  // namespace

Survey probe(const System& system, const TimeSource& clock, const std::set<Domain>& /*taken*/) {
  const std::filesystem::path folder = system.sysfs / "cray" / "pm_counters";
  const FolderListing listing = list_folder(folder.string());
  Survey found;
  std::vector<Channel> channels;
  std::vector<CounterFile> files;
  for (const std::string& file : listing.names) {
    const auto name = parse_counter_name(file);
    if (!name || channels.size() == ChannelSet().size()) continue;
    const std::string path = (folder / file).string();
    const bool is_energy = name->metric == Metric::energy;
    CounterFile counter{.file = open_for_reading(path), .unit = is_energy ? "J" : "W"};
    const AttributeValue value =
        counter.file ? read_value(counter) : AttributeValue{.error = errno};
    if (is_empty_slot(*name, value)) continue;
    if (!value.raw) {
      if (is_energy) {
        const Domain domain = Domain::custom(kSource, name->part);
        found.refused.push_back(unreadable(domain, path, value.error));
      }
      continue;
    }
    channels.push_back(channel_of(*name, path));
    files.push_back(std::move(counter));
  }
  if (channels.empty() && found.refused.empty()) {
    found.refused.push_back(nothing_found(folder.string(), listing.error));
  }
  if (!channels.empty()) {
    found.sensors.push_back(
        std::make_unique<NodeSensor>(std::move(channels), std::move(files), clock));
  }
  return found;
}

std::optional<StatedValue> parse_stated_value(std::string_view text,
                                              std::string_view unit) noexcept {
  if (text.ends_with('\n')) text.remove_suffix(1);
  const auto raw = parse_unsigned<std::uint64_t>(take_word(text));
  if (!raw || take_word(text) != unit) return std::nullopt;
  const std::string_view time = take_word(text);
  if (time.empty()) return StatedValue{.raw = *raw};
  const auto at_us = parse_unsigned<std::uint64_t>(time);
  if (!at_us || take_word(text) != "us" || !take_word(text).empty()) return std::nullopt;
  return StatedValue{.raw = *raw, .at_us = *at_us};
}

std::optional<CounterName> parse_counter_name(std::string_view file) noexcept {
  const std::size_t split = file.rfind('_');
  const bool is_node = split == std::string_view::npos;
  const std::string_view part = is_node ? kNode : file.substr(0, split);
  if (!is_node && !is_known_part(part)) return std::nullopt;
  const std::string_view quantity = is_node ? file : file.substr(split + 1);
  if (quantity == "energy") return CounterName{.metric = Metric::energy, .part = part};
  if (quantity == "power") return CounterName{.metric = Metric::power_instant, .part = part};
  return std::nullopt;
}

}  // namespace wattle::cray
