// The state of each server in `wattle stream`, and its JSON lines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wattle/energy.hpp"
#include "wattle/power_stream.hpp"
#include "wattle/units.hpp"

namespace wattle::app {

/// A device of a server.
struct StreamedDevice {
  /// "nvidia_gpu_0", "package_0", "dram_0", "psys"; "gpu_0" where the server does not report more.
  std::string domain;
  bool is_gpu = false;
  std::optional<double> power_w{};  ///< absent: no event yet, or unknown to the daemon
  std::optional<double> read_unix_s{};
  std::optional<MeasuredEnergy> energy{};  ///< since the start; absent: not known yet
  std::string reason{};                    ///< why the daemon does not know the power; may be empty
  bool counts = true;                      ///< false: others include it, so sums leave it out
};

struct StreamedServer {
  std::string endpoint;
  ConnectionState gpu;
  ConnectionState cpu;
  std::vector<StreamedDevice> devices;
};

/// Everything at one time.
struct StreamedPower {
  double time_unix_s = 0;
  Seconds elapsed{0};  ///< since the start
  std::vector<StreamedServer> servers;
};

/// The known values, server by server in the order of their endpoints.
[[nodiscard]] std::vector<StreamedServer> servers_of(
    const PowerSnapshot& snapshot, const std::map<std::string, ServerEnergy>& energies);

/// Why a server does not serve the requested data: "gpus: connecting: Connection refused", without
/// "gpus: " if the same is true of its CPUs. Empty if it serves them.
[[nodiscard]] std::vector<std::string> troubles_of(const StreamedServer& server);

/// The same as lines of a log. `is_first`: the server was not heard of before.
[[nodiscard]] std::vector<std::string> trouble_lines_of(const StreamedServer& server,
                                                        bool is_first);

/// A line a server, with its line end.
[[nodiscard]] std::string json_lines_of(const StreamedPower& power, bool shows_energy);
/// The end: a line a server.
[[nodiscard]] std::string json_totals_of(const StreamedPower& total);

}  // namespace wattle::app
