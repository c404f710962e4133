#include "top/sources/streamed_machines.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/json/json_read.hpp"
#include "sensors/domain_traits.hpp"
#include "top/sources/record.hpp"

namespace wattle::app {
namespace {

using Json = nlohmann::ordered_json;

/// "gpus: denied: no token"; empty if the connection lives, or nothing is streamed by it.
std::string connection_trouble(const Json& json, const char* devices) {
  PrintableText status;
  PrintableText reason;
  take_member(at(json, devices), "status", status);
  take_member(at(json, devices), "reason", reason);
  if (status == "live" || status == "off" || status.empty()) return {};
  return status + (reason.empty() ? "" : ": " + reason);
}

/// The troubles of the connections for GPUs and for CPUs, whose states may differ.
struct MachineTroubles {
  std::string gpus{};  ///< empty where there is none
  std::string cpus{};

  [[nodiscard]] std::string text() const {
    if (gpus == cpus) return gpus;
    std::string both = gpus.empty() ? "" : "gpus: " + gpus;
    if (!cpus.empty()) both += (both.empty() ? "cpus: " : "; cpus: ") + cpus;
    return both;
  }
};

/// It streams these devices now.
bool is_streamed(const Json& json, const char* devices) {
  PrintableText status;
  take_member(at(json, devices), "status", status);
  return status == "live";
}

/// zeusd names no GPUs: "gpu_0".
bool is_numbered_gpu(std::string_view name) { return name.starts_with("gpu_"); }

}  // namespace

bool StreamedMachines::take(std::string_view line) {
  const Json json = parse_json(line);
  std::string schema;
  std::string type;
  take_member(json, "schema", schema);
  take_member(json, "type", type);
  if (schema != "wattle.stream/1" || type != "reading") return false;
  auto seen = parse_record_line(line);  // devices are written in the same way
  if (!seen) return false;
  PrintableText name;
  take_member(json, "server", name);
  std::set<std::string> counted;  // a package can be shown once a die
  std::size_t place = 0;
  for_each_object(at(json, "devices"), [&](const Json& it) {
    TopDevice& device = seen->devices[place++];
    device.machine = name;
    take_member(it, "domain", device.name);
    const auto kind = kind_of_name(device.name);
    device.is_gpu =
        is_numbered_gpu(device.name) || (kind && traits_of(*kind).category == DomainCategory::gpu);
    device.is_counted = (is_numbered_gpu(device.name) || (kind && counts_in_total(*kind))) &&
                        counted.insert(device.name).second;
  });
  const MachineTroubles troubles{.gpus = connection_trouble(json, "gpus"),
                                 .cpus = connection_trouble(json, "cpus")};
  Machine machine{.state = {.name = name,
                            .is_live = is_streamed(json, "gpus") || is_streamed(json, "cpus"),
                            .trouble = troubles.text()},
                  .devices = std::move(seen->devices)};
  for (TopDevice& device : machine.devices) {
    const std::string& trouble = device.is_gpu ? troubles.gpus : troubles.cpus;
    if (trouble.empty()) continue;
    device.power.reset();  // the last value holds no longer
    device.reason = trouble;
  }
  const bool is_complete = count_line(seen->elapsed);
  time_unix_s_ = seen->time_unix_s;
  elapsed_ = seen->elapsed;
  const auto known = std::ranges::find(
      machines_, name, [](const Machine& it) -> const PrintableText& { return it.state.name; });
  if (known == machines_.end()) {
    machines_.push_back(std::move(machine));
  } else {
    *known = std::move(machine);
  }
  return is_complete;
}

/// All lines of a period have the same time. A server that was named twice has one of them.
bool StreamedMachines::count_line(Seconds elapsed) {
  if (elapsed != elapsed_ || lines_ == 0) {
    if (lines_ > 0) lines_in_period_ = lines_;
    lines_ = 0;
  }
  return ++lines_ == lines_in_period_;
}

TopObservation StreamedMachines::observe() {
  TopObservation seen{.time_unix_s = time_unix_s_, .elapsed = elapsed_};
  const Seconds length = elapsed_ - std::exchange(last_, elapsed_);
  if (length > Seconds(0)) seen.length = length;
  for (const Machine& machine : machines_) {
    seen.machines.push_back(machine.state);
    seen.devices.insert(seen.devices.end(), machine.devices.begin(), machine.devices.end());
  }
  seen.notes.emplace_back("processes of other machines are not shown: daemons do not report them");
  return seen;
}

}  // namespace wattle::app
