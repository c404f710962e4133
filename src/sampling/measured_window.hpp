// One window of what is read: from its first capture to its last, and the powers in between.
#pragma once

#include <optional>
#include <vector>

#include "sampling/domain_figure.hpp"
#include "sampling/interval_power.hpp"
#include "sampling/readings.hpp"

namespace wattle {

/// From the first `read` to the last it measures one window. Threads: one at a time.
class MeasuredWindow {
 public:
  /// `readings` outlives it. `is_of_work`: see `EnergyWindow::work_read_until`.
  explicit MeasuredWindow(Readings& readings, bool is_of_work = false);

  /// Reads every counter that answers at once. Allocates nothing. `ends_interval`: one of the equal
  /// intervals of `max` and `interval_power` ends with it.
  void read(bool ends_interval) noexcept;
  /// Lets the lanes read: to be called at both ends of the window (see `Readings`).
  bool read_lanes(TimePoint deadline, Lanes lanes = Lanes::usual);

  /// The part of the window after the last whole interval ends at `at`. From then on
  /// `interval_power` is the power of that part; `max` is not changed.
  void end_rest(TimePoint at) noexcept;

  /// Mean power of the domains that make up a total over the last interval that ended; absent
  /// where there is none, or one of them is unknown. A counter that is stuck does not count.
  [[nodiscard]] std::optional<Watts> interval_power() const noexcept;
  /// That of one domain; absent where it is unknown, or no such domain is read.
  [[nodiscard]] std::optional<Watts> interval_power(const Domain& domain) const noexcept;
  /// The energy of one domain in that interval, with its ± and flags; absent where no interval has
  /// ended, or no such domain is read.
  [[nodiscard]] std::optional<EnergyFigure> interval_energy(const Domain& domain) const;

  /// One a domain, in their order.
  [[nodiscard]] std::vector<DomainFigure> figures(TimePoint begin, TimePoint end) const;

  /// The same of a part of the window, without the highest powers. Its ends are looked up, but for
  /// those of the window itself.
  [[nodiscard]] std::vector<DomainFigure> figures_within(TimePoint from, TimePoint to) const;

  [[nodiscard]] const Readings& readings() const noexcept { return readings_; }
  /// The last reading; for devices in lanes, the last one at an end of the window.
  [[nodiscard]] const Capture& shown() const noexcept { return shown_; }

 private:
  /// One domain's.
  struct DomainWindow {
    Domain domain;
    std::optional<Boundary> first{};
    std::optional<Boundary> last{};
    std::optional<Boundary> interval_begin{};
    std::optional<EnergyWindow> interval{};  ///< the last one that ended
    std::optional<EnergyWindow> highest{};   ///< the whole interval with the highest mean power
    bool is_late = false;                    ///< its lane did not answer at one of the ends
    bool is_stuck = false;                   ///< its counter did not move in the last interval
    IntervalPower intervals{};
  };

  enum class IntervalKind : bool { whole, rest };
  void end_interval(TimePoint at, IntervalKind interval) noexcept;
  /// The uncertainty of the highest mean power of the domain at `place`.
  [[nodiscard]] std::optional<Watts> max_uncertainty(std::size_t place) const;

  Readings& readings_;
  bool is_of_work_;
  std::optional<TimePoint> lanes_read_at_{};  ///< when they had answered last
  std::vector<DomainWindow> parts_;
  Capture shown_;  ///< reused
  bool has_begun_ = false;
  bool lanes_have_begun_ = false;
  TimePoint interval_began_;
};

}  // namespace wattle
