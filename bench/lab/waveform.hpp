// Power over time whose energy is known exactly: the truth that the lab holds numbers against.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace wattle::lab {

/// A power that holds from `start_s` until the next one.
struct Level {
  double start_s = 0.0;
  double power_w = 0.0;
};

/// Defined for all times, in seconds, negative ones too. An energy costs the same however long its
/// stretch is: it is the difference of two antiderivatives, in closed form or from sums made once.
/// Threads: a value type; copies share what is large.
class Waveform {
 public:
  [[nodiscard]] static Waveform constant(double power_w);
  /// `before_w` until 0 s, `after_w` from then on.
  [[nodiscard]] static Waveform step(double before_w, double after_w);
  /// `high_w` in the first half of each period, `low_w` in the second.
  [[nodiscard]] static Waveform square(double low_w, double high_w, double period_s);
  /// `mean_w` at 0 s, and rising.
  [[nodiscard]] static Waveform sine(double mean_w, double amplitude_w, double period_s);
  /// `idle_w`, and `busy_w` in between; both last exponentially distributed times of these means.
  [[nodiscard]] static Waveform bursts(double idle_w, double busy_w, double mean_idle_s,
                                       double mean_busy_s, std::uint64_t seed);
  /// Powers between the two, each held for between a half and one and a half times `mean_hold_s`:
  /// a load without any period.
  [[nodiscard]] static Waveform noise(double low_w, double high_w, double mean_hold_s,
                                      std::uint64_t seed);
  /// Begins anew each `period_s`. The first level starts at 0; starts increase, and stay below the
  /// period.
  [[nodiscard]] static Waveform repeated(const std::vector<Level>& levels, double period_s);

  /// The same, `later_s` later.
  [[nodiscard]] Waveform delayed(double later_s) const;
  /// The same from `begin_s` to `end_s`, which is not earlier, and `outside` before and after,
  /// which is not enclosed itself.
  [[nodiscard]] Waveform only_between(double begin_s, double end_s, const Waveform& outside) const;

  [[nodiscard]] double power_w(double time_s) const noexcept;
  /// The exact integral of the power. `end_s` is not earlier than `begin_s`.
  [[nodiscard]] double energy_j(double begin_s, double end_s) const noexcept;
  /// The mean power over the last `window_s` before `time_s`; the power itself where that is 0.
  [[nodiscard]] double mean_w(double time_s, double window_s) const noexcept;
  /// What a sensor that follows the power with a first-order lag shows at `end_s`, where at
  /// `begin_s` it shows `begin_w`. Costs one step for each change of the power in between.
  [[nodiscard]] double lagged_w(double begin_s, double begin_w, double end_s,
                                double time_constant_s) const noexcept;
  /// Of all its powers, but those outside of its enclosure.
  [[nodiscard]] double lowest_w() const noexcept;
  [[nodiscard]] double highest_w() const noexcept;
  /// The time after which it repeats itself; 0 where it never does.
  [[nodiscard]] double period_s() const noexcept;
  /// The part of the power's variance that is at whole multiples of the frequency 1 / `period_s`,
  /// up to the 20th, or off by less than `near` of that frequency. 0 where the power never changes,
  /// or never repeats itself.
  [[nodiscard]] double variance_at_multiples(double period_s, double near) const;

 private:
  struct Steps {
    std::vector<double> starts_s;
    std::vector<double> powers_w;
    std::vector<double> energies_j;  ///< from 0 to each start
    double period_s = 0.0;           ///< 0: the first and the last level last for ever
    double period_energy_j = 0.0;

    [[nodiscard]] std::size_t level_at(double time_s) const noexcept;
    /// Until when the power of `time_s` holds.
    [[nodiscard]] double holds_until_s(double time_s) const noexcept;
    [[nodiscard]] double power_w(double time_s) const noexcept;
    [[nodiscard]] double energy_until_j(double time_s) const noexcept;
    /// Of the part that repeats itself `harmonic` times a period: half its amplitude, squared.
    [[nodiscard]] double squared_w2(double harmonic) const noexcept;
  };
  struct Sine {
    double mean_w;
    double amplitude_w;
    double period_s;

    [[nodiscard]] double power_w(double time_s) const noexcept;
    [[nodiscard]] double energy_until_j(double time_s) const noexcept;
    /// The integral of the power times e^(time / time constant), over the time constant, but for a
    /// factor that `Course::lagged_w` knows.
    [[nodiscard]] double weighted_w(double time_s, double time_constant_s) const noexcept;
  };
  using Shape = std::variant<Sine, std::shared_ptr<const Steps>>;
  struct Course {
    Shape shape;
    double delay_s = 0.0;

    [[nodiscard]] double power_w(double time_s) const noexcept;
    [[nodiscard]] double energy_j(double begin_s, double end_s) const noexcept;
    /// What the power from `begin_s` to `end_s` adds to what is shown at `time_s`.
    [[nodiscard]] double lagged_w(double begin_s, double end_s, double time_s,
                                  double time_constant_s) const noexcept;
  };
  struct Enclosure {
    double begin_s;
    double end_s;
    Course outside;
  };

  explicit Waveform(Shape shape) noexcept : course_{std::move(shape)} {}
  [[nodiscard]] static Waveform of_levels(const std::vector<Level>& levels, double period_s);

  Course course_;
  std::optional<Enclosure> enclosure_;
};

}  // namespace wattle::lab
