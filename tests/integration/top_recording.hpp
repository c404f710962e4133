// A recording of `wattle top` that is made up.
#pragma once

#include <fmt/format.h>

#include <string>

#include "command.hpp"

namespace wattle::integration {

/// A recording of two periods, the second with more devices and processes.
[[nodiscard]] inline std::string recording() {
  const auto device = [](const char* name, double power_w, double energy_j) {
    return Json{{"name", name},         {"is_counted", true},
                {"power_w", power_w},   {"power_uncertainty_w", 0.2},
                {"energy_j", energy_j}, {"uncertainty_j", 1.2},
                {"unknown_s", 0.0},     {"flags", Json::array()}};
  };
  const auto process = [](int pid, int parent, const char* command, const char* user,
                          double cpu_s) {
    return Json{{"pid", pid},
                {"parent", parent},
                {"command", command},
                {"user", user},
                {"cgroup", fmt::format("/user.slice/{}", user)},
                {"cpu_s", cpu_s},
                {"memory_bytes", pid * 1'000'000}};
  };
  Json gpu = device("nvidia_gpu_0", 300.0, 600.0);
  gpu["is_gpu"] = true;
  gpu["model"] = "NVIDIA H100 PCIe";
  gpu["utilization_percent"] = 80.0;
  gpu["users"] = {{{"pid", 20}, {"memory_bytes", 19'000'000'000}, {"part", nullptr}}};
  std::string text = "{\"schema\":\"wattle.top_record/1\",\"wattle_version\":\"test\"}\n";
  for (const int second : {1, 2}) {
    Json seen = {{"time_unix_s", 1.76e9 + second},
                 {"elapsed_s", second},
                 {"length_s", 1.0},
                 {"host", "node7"},
                 {"devices", {device("package_0", 80.0, 80.0 * second)}},
                 {"cpu_s", 2.0},
                 {"threads", 8.0},
                 {"memory_used_bytes", 12'000'000'000},
                 {"memory_total_bytes", 64'000'000'000},
                 {"idle", {{"low_w", 28.0}, {"typical_w", 30.0}, {"high_w", 32.0}}},
                 {"idle_note", "idle by the baseline of a test"},
                 {"notes", {"not shown: psys: it is readable by root only"}},
                 {"processes", {process(1, 0, "systemd", "root", 0.0)}}};
    if (second == 2) {
      seen["devices"].push_back(gpu);
      for (const Json& more :
           {process(10, 1, "bash", "alice", 0.1), process(20, 10, "python", "alice", 1.5),
            process(21, 10, "gcc", "alice", 0.2), process(30, 1, "gcc", "bob", 0.1)}) {
        seen["processes"].push_back(more);
      }
    }
    text += seen.dump() + "\n";
  }
  return text;
}

}  // namespace wattle::integration
