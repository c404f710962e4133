// The energy counters of CPUs as a daemon on this machine shows them.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sensors/cpu_zones.hpp"
#include "sensors/daemon/connection.hpp"
#include "sensors/sensor.hpp"

namespace wattle::daemon_source {

/// A counter whose breaks show: where the daemon was restarted, or lost track, its raw integer
/// falls, which says to who follows it that nothing is known of the time between. The daemon's own
/// number may go on from a higher value by chance.
class RestartAwareCounter {
 public:
  /// The raw integer for what the daemon shows; absent once there were more breaks than could be.
  [[nodiscard]] std::optional<std::uint64_t> update(std::uint64_t shown_uj,
                                                    std::optional<std::uint64_t> since_ms) noexcept;

 private:
  /// Each interval starts one lower than the one before, so below everything that was in it.
  static constexpr std::uint64_t kFirstBegin = std::uint64_t{1} << 20U;

  std::uint64_t begin_ = kFirstBegin + 1;  ///< the raw integer of `base_`
  std::uint64_t base_ = 0;                 ///< the value at the start of the interval
  std::uint64_t last_ = 0;
  std::optional<std::uint64_t> since_ms_{};
  bool has_last_ = false;
};

/// Reads all packages with one question. `may_block` is false: a daemon on the same machine answers
/// within about 0.1 ms, has `kPatience` at most, and one that kept us waiting is left alone for
/// `kRest`. A lane would put a thread's wake-up between the end of a run and its reading.
/// Threads: one at a time.
class DaemonSensor final : public Sensor {
 public:
  static constexpr std::chrono::milliseconds kPatience{200};
  static constexpr std::chrono::seconds kRest{1};

  /// `counters`: what the daemon showed first; a counter that it showed there has a channel, but
  /// each domain one, and those in `taken` none. `zones`: the known meanings of zeusd's numbers on
  /// this machine.
  DaemonSensor(std::unique_ptr<DaemonConnection> connection, const AllCounters& counters,
               const std::vector<CpuZone>& zones, std::set<Domain> taken, const std::string& place,
               const TimeSource& clock);

  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  void read_some(ChannelSet wanted, std::span<Reading> readings) noexcept override;

 private:
  struct DaemonCounter {
    std::uint32_t cpu = 0;
    std::string name{};  ///< the daemon's of the CPU; empty: it has none
    std::optional<std::uint64_t> CpuCounters::*shown = nullptr;
    RestartAwareCounter marked{};
  };
  void add(const CpuCounters& cpu, std::optional<std::uint64_t> CpuCounters::*shown, Domain domain,
           const std::string& place);

  std::set<Domain> taken_;
  std::vector<Channel> channels_;
  std::vector<DaemonCounter> counters_;
  std::unique_ptr<DaemonConnection> connection_;
  const TimeSource& clock_;
  TimePoint rests_until_{};
};

}  // namespace wattle::daemon_source
