// The phases of a run: what its marks say, and what was read at them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/marks.hpp"
#include "report/report.hpp"
#include "sampling/readings.hpp"

namespace wattle::app {

/// The readings at a mark.
struct PhaseEnd {
  TimePoint at;
  std::vector<std::optional<Boundary>> counters{};  ///< of each domain; absent: in `lanes`
  LateCapture lanes{};                              ///< absent there: looked up later
  std::optional<std::chrono::nanoseconds> cpu{};    ///< of the command's processes, in all
  std::optional<std::uint64_t> memory_bytes{};      ///< of them together
};
using SharedEnd = std::shared_ptr<const PhaseEnd>;

/// The energy of each domain between two marks.
using EnergyBetween = std::function<std::vector<DomainFigure>(const PhaseEnd&, const PhaseEnd&)>;

/// Threads: one at a time.
class Phases {
 public:
  static constexpr std::size_t kMostRows = PhasesReport::kMostRows;
  static constexpr std::size_t kMostSpans = 10'000;
  static constexpr std::size_t kMostOpen = 1000;

  void take(const std::optional<Mark>& mark, const SharedEnd& here);
  /// A sample of the memory of the command's processes.
  void sample(std::uint64_t memory_bytes) noexcept;
  /// True while a phase goes on.
  [[nodiscard]] bool any_open() const noexcept { return !open_.empty(); }
  /// Ends all of them.
  void end(const SharedEnd& here);

  [[nodiscard]] PhasesReport report(TimePoint run_begin, const EnergyBetween& energy_between,
                                    const std::string& no_processes) const;

 private:
  struct PhaseEnds {
    SharedEnd begin;
    SharedEnd end;
  };
  struct PhaseRow {
    std::string name;
    std::optional<std::size_t> parent;
    std::size_t depth = 0;
    std::vector<PhaseEnds> spans{};
    std::optional<std::uint64_t> peak_memory_bytes{};
  };
  struct Open {
    std::size_t row;
    SharedEnd begin;
  };

  void begin(const std::string& name, const SharedEnd& here);
  void end(std::size_t place, const SharedEnd& here);
  [[nodiscard]] std::optional<std::size_t> row_of(const std::string& name,
                                                  std::optional<std::size_t> parent);
  static void see(PhaseRow& row, std::uint64_t memory_bytes) noexcept;
  [[nodiscard]] std::vector<std::size_t> tree_order() const;

  std::vector<PhaseRow> rows_;
  std::vector<Open> open_;  ///< in the order of their starts
  std::size_t spans_ = 0;
  std::uint64_t marks_ = 0;
  std::uint64_t ignored_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace wattle::app
