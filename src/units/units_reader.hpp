// Reads the domains of a machine and divides them among units: the book of units, its sensors, and
// what may use them at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "energy/metered_domains.hpp"
#include "units/unit_book.hpp"
#include "units/unit_desk.hpp"
#include "wattle/work_units.hpp"

namespace wattle::detail {

/// Threads: any.
class UnitsReader {
 public:
  /// The clocks outlive it. Throws `InvalidArgument` for domains that overlap, and for options out
  /// of their range.
  UnitsReader(std::shared_ptr<MeteredDomains> domains, const WorkUnitsOptions& options,
              const TimeSource& clock, const ThreadClock& threads);

  /// Reads all sensors and divides what they show; true if no ended unit waits. Who comes second
  /// waits for the first.
  bool read();
  [[nodiscard]] UnitState state(UnitId unit) const;
  [[nodiscard]] std::optional<UnitEnergy> result(UnitId unit) const;
  [[nodiscard]] UnitsReport report() const;

  [[nodiscard]] UnitDesk& desk() noexcept { return *desk_; }
  /// The number of a GPU in events. Throws `InvalidArgument` if it is not divided.
  [[nodiscard]] std::uint8_t gpu_number(const Domain& gpu) const;
  [[nodiscard]] std::vector<std::string> domains() const;
  [[nodiscard]] std::vector<Refusal> missing() const;
  /// If units still run, what they write to is never destroyed: they may end later.
  void keep_desk() noexcept;

 private:
  void report_failure(const char* what);
  /// A domain that is divided, and the end of its last interval.
  struct DomainColumn {
    std::size_t place = 0;  ///< in `MeteredDomains`
    TimePoint at{};
    StoredBoundary end{};
    bool has_begun = false;
  };

  void add_reading(std::size_t number, const StoredBoundary& end, TimePoint call,
                   std::vector<UnitReading>& readings);

  std::shared_ptr<MeteredDomains> domains_;
  std::function<void(const UnitEnergy&)> on_done_;
  std::vector<std::string> names_;
  std::vector<Domain> gpus_;  ///< by number, from 1
  std::shared_ptr<UnitDesk> desk_;

  std::mutex reading_mutex_;  ///< held while sensors are read
  std::vector<DomainColumn> columns_;
  std::vector<StoredBoundary> ends_;
  std::atomic<bool> has_failed_ = false;  ///< `on_done` threw

  mutable std::mutex book_mutex_;
  std::optional<UnitBook> book_;
};

}  // namespace wattle::detail
