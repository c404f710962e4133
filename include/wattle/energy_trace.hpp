// The recording of an energy meter: tagged sections with the energy that each domain spent.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wattle/clock.hpp"
#include "wattle/domain.hpp"
#include "wattle/energy.hpp"
#include "wattle/export.hpp"
#include "wattle/refusal.hpp"

namespace wattle {

/// The names of the domains of a sample, in the order of its energies: "package_0", "dram_0" ...
/// The samples of a trace share one list.
using DomainNames = std::shared_ptr<const std::vector<std::string>>;

/// A section and what it cost. Threads: a value type.
class WATTLE_EXPORT EnergySample {
 public:
  /// `energies[i]` is that of `(*domains)[i]`. Throws `InvalidArgument` where their numbers differ,
  /// where two domains have one name, or where `duration` is negative or not finite.
  EnergySample(TimePoint timestamp, std::string tag, Seconds duration, DomainNames domains,
               std::vector<MeasuredEnergy> energies);

  /// When it started.
  [[nodiscard]] TimePoint timestamp() const noexcept { return timestamp_; }
  [[nodiscard]] double timestamp_unix_s() const noexcept { return to_unix(timestamp_); }
  [[nodiscard]] const std::string& tag() const noexcept { return tag_; }
  [[nodiscard]] Seconds duration() const noexcept { return duration_; }

  [[nodiscard]] const DomainNames& domains() const noexcept { return domains_; }
  /// In the order of `domains`.
  [[nodiscard]] std::span<const MeasuredEnergy> energies() const noexcept { return energies_; }
  /// Its own `energy` is absent where nothing is known. Throws `NoSuchDomain` for a domain that
  /// was not measured.
  [[nodiscard]] const MeasuredEnergy& energy(std::string_view domain) const;
  [[nodiscard]] const MeasuredEnergy& energy(const Domain& domain) const {
    return energy(domain.name());
  }
  /// The sum over the domains that count in a total (`counts_in_total`): packages, DRAM and GPUs.
  /// Its `unknown` is the longest one among them. Its `energy` is absent if none of them is known,
  /// or the sample has no such domain.
  [[nodiscard]] MeasuredEnergy total() const;
  /// True if the energy of `(*domains)[index]` is known for all of the duration, except at most a
  /// thousandth. Else the energy is a lower bound, however far below. Throws `NoSuchDomain` for an
  /// index past the end.
  [[nodiscard]] bool is_complete(std::size_t index) const;

  friend bool operator==(const EnergySample& a, const EnergySample& b);

 private:
  friend class EnergyTrace;  // takes idle energy off

  TimePoint timestamp_;
  std::string tag_;
  Seconds duration_;
  DomainNames domains_;
  std::vector<MeasuredEnergy> energies_;
};

/// Prints "load: 12.50 J ±0.50 J in 0.500 s (package_0: 12.50 J ±0.50 J, ...)": the tag, the total
/// and each domain.
WATTLE_EXPORT std::ostream& operator<<(std::ostream& out, const EnergySample& sample);

/// The power of an idle machine, by the name of the domain.
using IdlePower = std::map<std::string, Watts, std::less<>>;

/// Samples in the order in which they were taken. Threads: a value type.
class WATTLE_EXPORT EnergyTrace {
 public:
  /// True for a sample that is to be kept.
  using Guard = std::function<bool(const EnergySample&)>;

  EnergyTrace() = default;
  explicit EnergyTrace(std::vector<EnergySample> samples, std::vector<Refusal> missing = {});

  [[nodiscard]] std::size_t size() const noexcept { return samples_.size(); }
  [[nodiscard]] bool empty() const noexcept { return samples_.empty(); }
  [[nodiscard]] auto begin() const noexcept { return samples_.begin(); }
  [[nodiscard]] auto end() const noexcept { return samples_.end(); }
  /// Throws `NoSuchSample` past the end. Of a trace that is about to go (`meter.trace()[0]`): a
  /// copy, which stays.
  [[nodiscard]] const EnergySample& operator[](std::size_t index) const&;
  [[nodiscard]] EnergySample operator[](std::size_t index) &&;
  /// The first sample with that tag; throws `NoSuchSample` where there is none. Of a trace that is
  /// about to go: a copy.
  [[nodiscard]] const EnergySample& operator[](std::string_view tag) const&;
  [[nodiscard]] EnergySample operator[](std::string_view tag) &&;
  /// The first and the last sample. Throws `NoSuchSample` if the trace is empty.
  [[nodiscard]] const EnergySample& front() const& { return (*this)[std::size_t{0}]; }
  [[nodiscard]] EnergySample front() && { return std::move(*this)[std::size_t{0}]; }
  [[nodiscard]] const EnergySample& back() const& { return (*this)[samples_.size() - 1]; }
  [[nodiscard]] EnergySample back() && { return std::move(*this)[samples_.size() - 1]; }
  [[nodiscard]] bool contains(std::string_view tag) const noexcept;

  /// The domains that were not measured, and why. Joined by `+=`, each once. A temporary trace
  /// (`meter.trace().missing()`) returns its own copy.
  [[nodiscard]] std::span<const Refusal> missing() const& noexcept { return missing_; }
  [[nodiscard]] std::vector<Refusal> missing() && noexcept { return std::move(missing_); }

  void append(EnergySample sample);
  EnergyTrace& operator+=(const EnergyTrace& other);
  friend EnergyTrace operator+(EnergyTrace a, const EnergyTrace& b) { return a += b; }

  /// Removes the samples in which the energy of a domain is negative, unknown or a lower bound
  /// (`EnergySample::is_complete`), or for which any guard returns false. A guard is called once
  /// for each sample that is left, in their order; if it throws, nothing is changed.
  void clean_data(std::span<const Guard> guards = {});
  void clean_data(std::initializer_list<Guard> guards) {
    clean_data(std::span(guards.begin(), guards.size()));
  }

  /// Takes the idle energies (`EnergyMeter::measure_idle`) off, sample by sample and domain by
  /// domain: a result may be negative, its uncertainty is that of both. Where either is unknown,
  /// so is the result. Domains that only `idle` has are ignored. Throws `InvalidArgument`, and
  /// changes nothing, where the traces have different lengths or `idle` lacks a domain.
  void remove_idle(const EnergyTrace& idle);
  /// The same with known powers: takes `idle` times the known part of the duration off. The
  /// uncertainties stay: that of `idle` is not known.
  void remove_idle(const IdlePower& idle);

  friend bool operator==(const EnergyTrace&, const EnergyTrace&) = default;

 private:
  std::vector<EnergySample> samples_;
  std::vector<Refusal> missing_;
};

/// A copy of the trace after `EnergyTrace::clean_data`.
[[nodiscard]] inline EnergyTrace clean_data(EnergyTrace trace,
                                            std::initializer_list<EnergyTrace::Guard> guards = {}) {
  trace.clean_data(guards);
  return trace;
}
/// A copy of the trace after `EnergyTrace::remove_idle`.
[[nodiscard]] inline EnergyTrace remove_idle(EnergyTrace trace, const EnergyTrace& idle) {
  trace.remove_idle(idle);
  return trace;
}
[[nodiscard]] inline EnergyTrace remove_idle(EnergyTrace trace, const IdlePower& idle) {
  trace.remove_idle(idle);
  return trace;
}

/// Prints its samples, a line for each.
WATTLE_EXPORT std::ostream& operator<<(std::ostream& out, const EnergyTrace& trace);

}  // namespace wattle
