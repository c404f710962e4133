// The domains of a meter: reads them together, and computes the energies of sections from that.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/forks.hpp"
#include "base/worker.hpp"
#include "sensors/sensor.hpp"
#include "wattle/energy_meter.hpp"

namespace wattle::detail {

/// The value of one domain at an end of a section. Stored for each domain and call, hence small.
struct StoredBoundary {
  enum class BoundaryState : std::uint8_t {
    unread,   ///< no value: its counter failed, or it has none
    late,     ///< its device did not answer in time
    read,     ///< read, whenever the counter was renewed before
    aligned,  ///< this is an update of the counter
  };

  TimePoint at;
  std::uint64_t ticks = 0;
  /// It was at +- this; of an update: the time between the reads around it. At most 4.2 s.
  std::uint32_t width_ns = 0;
  /// Where it is an update that ends a section: how much later, and further, the update is with
  /// which the next one starts.
  std::uint32_t next_ns = 0;
  std::uint32_t next_ticks = 0;
  BoundaryState state = BoundaryState::unread;
};

/// The power of waiting for updates of a counter. Not a number where it was not measured.
struct StoredWaitingPower {
  float mean_w = std::numeric_limits<float>::quiet_NaN();
  float standard_uncertainty_w = 0.0F;
};

/// When a call that ends a section, or starts one, was made and when it returned. Without alignment
/// both are the same time.
struct CallTimes {
  TimePoint called;
  TimePoint returned;
};

/// A section of one domain.
struct Section {
  TimePoint begin;
  TimePoint end;
  StoredBoundary first;
  StoredBoundary last;
  StoredWaitingPower waiting_before{};  ///< at the start
  StoredWaitingPower waiting_after{};   ///< at the end
  /// Another section starts with `last`: the time between the end and that reading is in this one.
  bool is_followed = false;
};

/// The call of the meter that reads.
enum class CallKind : std::uint8_t { start, record, stop };

/// The parts that `MeteredDomains` is made from.
struct MeterParts {
  std::vector<std::unique_ptr<Sensor>> sensors;
  /// In the order of the results; a domain without a sensor is unknown throughout.
  std::vector<Domain> domains;
  std::vector<std::shared_ptr<EnergySource>> sources{};
  std::vector<Refusal> missing{};
  bool aligned = false;
  /// Without a domain it measures nothing, and a missing one is not aligned; otherwise both are
  /// refused.
  bool may_lack_domains = false;
  /// A thread reads the counters often enough to lose no wrap.
  bool starts_keeper = true;
  /// Waits for a time; tests let virtual time pass.
  std::function<void(std::chrono::nanoseconds)> sleep{};
};

/// Threads: any; of several that capture, one waits for the other. After `fork` the child's copy
/// reads nothing.
class MeteredDomains {
 public:
  /// Finds the sensors. Throws as `EnergyReader` does.
  [[nodiscard]] static std::shared_ptr<MeteredDomains> open(const EnergyMeterOptions& options);

  /// As `open`, but returns domains that were opened here with the same options, if they still
  /// exist. Threads: any.
  [[nodiscard]] static std::shared_ptr<MeteredDomains> share(const EnergyMeterOptions& options);

  /// `clock` outlives everything. Throws `InvalidArgument` for names that occur twice, for sources
  /// that make no sense, and for what cannot be aligned.
  MeteredDomains(MeterParts parts, const TimeSource& clock);
  ~MeteredDomains();
  MeteredDomains(const MeteredDomains&) = delete;
  MeteredDomains& operator=(const MeteredDomains&) = delete;

  [[nodiscard]] const DomainNames& names() const noexcept { return names_; }
  [[nodiscard]] std::span<const Refusal> missing() const noexcept { return missing_; }
  [[nodiscard]] bool aligned() const noexcept;

  /// Reads all domains, back to back: `ends[i]` is that of domain i. Where ends are aligned, waits
  /// for updates; `waiting` is as long as `ends` then, else empty. At a start it is measured; else
  /// it is that of the start, and becomes less certain where the power has changed since. Allocates
  /// nothing unless a GPU is among the domains.
  CallTimes capture(CallKind kind, std::span<StoredBoundary> ends,
                    std::span<StoredWaitingPower> waiting) noexcept;

  [[nodiscard]] MeasuredEnergy energy(std::size_t domain, const Section& section) const;

  void sleep(std::chrono::nanoseconds time) const;

 private:
  struct State;
  void watch_updates(bool may_be_missing);
  void start_keeper();

  std::shared_ptr<State> state_;
  DomainNames names_;
  std::vector<Refusal> missing_;
  std::uint64_t forks_;  ///< when it was made
  std::unique_ptr<Worker> keeper_;
};

/// Meters and readers of given domains: for tests and the lab, which play the sensors and the
/// clock.
struct EnergyMeterMaker {
  [[nodiscard]] static EnergyMeter meter(std::shared_ptr<MeteredDomains> domains,
                                         std::string default_tag = "") {
    return EnergyMeter(std::move(domains), std::move(default_tag));
  }
  [[nodiscard]] static EnergyReader reader(std::shared_ptr<MeteredDomains> domains) {
    return EnergyReader(std::move(domains));
  }
};

}  // namespace wattle::detail
