// A book of units on domains whose readings a test writes.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fakes/played_threads.hpp"
#include "fakes/virtual_clock.hpp"
#include "units/unit_book.hpp"

namespace wattle::detail {

using namespace std::chrono_literals;

class UnitBookTest : public testing::Test {
 protected:
  struct Unit {
    UnitEvents::Started started;
    std::int64_t weight = 0;
    std::uint16_t tag = 0;
    std::uint16_t column = 0;  ///< of the phase that it is in
    std::uint8_t gpu = 0;
    std::int64_t last_ns = 0;
    std::int32_t thread = 0;  ///< by whose CPU time it is divided; 0: by weight
  };

  UnitBook& book(std::vector<DividedDomain> domains = {{.name = "package_0"}},
                 UnitBookOptions options = {.lag = 0ns}) {
    last_.assign(domains.size(), clock_.at());
    options.threads = &threads_;
    book_.emplace(events_, tags_, std::move(domains), options);
    return *book_;
  }
  Unit begin(const std::string& tag, double weight = 1.0, std::uint8_t gpu = 0) {
    Unit unit{.weight = *weight_steps(weight), .tag = tags_.column(tag), .gpu = gpu};
    unit.column = unit.tag;
    unit.started = *events_.begin(unit.column, unit.weight, gpu);
    unit.last_ns = unit.started.at_ns;
    return unit;
  }
  /// One that is divided by the CPU time of a thread.
  Unit begin_on(std::int32_t thread, const std::string& tag, double weight = 1.0,
                std::uint8_t gpu = 0) {
    threads_.compute(thread, 0ns);
    Unit unit{
        .weight = *weight_steps(weight), .tag = tags_.column(tag), .gpu = gpu, .thread = thread};
    unit.column = unit.tag;
    unit.started = *events_.begin(unit.column, unit.weight, gpu, threads_.of(thread));
    unit.last_ns = unit.started.at_ns;
    return unit;
  }
  void end(const Unit& unit, double work = 0.0) {
    (void)events_.leave({.weight = unit.weight,
                         .work = work,
                         .used_ns = threads_.used_ns(unit.thread),
                         .slot = slot_of(unit.started.id),
                         .thread = unit.thread,
                         .column = unit.column,
                         .gpu = unit.gpu,
                         .kind = UnitEvent::EventKind::end},
                        unit.last_ns);
  }
  void enter(Unit& unit, const std::string& phase) {
    const std::uint16_t column = tags_.column(phase, unit.tag);
    const UnitEvent enters{.weight = unit.weight,
                           .used_ns = threads_.used_ns(unit.thread),
                           .slot = slot_of(unit.started.id),
                           .thread = unit.thread,
                           .column = column,
                           .gpu = unit.gpu,
                           .kind = UnitEvent::EventKind::enter};
    unit.last_ns = events_.leave({.weight = unit.weight,
                                  .used_ns = enters.used_ns,
                                  .slot = slot_of(unit.started.id),
                                  .thread = unit.thread,
                                  .column = unit.column,
                                  .gpu = unit.gpu,
                                  .kind = UnitEvent::EventKind::leave},
                                 unit.last_ns, &enters);
    unit.column = column;
  }
  /// The domain spent so much since its last reading; absent: unknown.
  void reads(std::optional<double> joules, std::size_t domain = 0) {
    const TimePoint now = clock_.at();
    UnitReading reading{.begin = last_[domain], .end = now};
    if (joules) reading.energy.energy = Joules(*joules);
    if (!joules) reading.energy.unknown = Seconds(now - last_[domain]);
    last_[domain] = now;
    book_->add(domain, reading);
    book_->settle([this](const UnitEnergy& unit) { done_.push_back(unit); });
  }
  /// A millisecond later, so that all events are from before.
  void settle() {
    clock_.advance(1ms);
    for (std::size_t i = 0; i < last_.size(); ++i) reads(0.0, i);
  }
  [[nodiscard]] double joules_of(const Unit& unit) const {
    return book_->result(unit.started.id)->energy.energy->si();
  }
  [[nodiscard]] static double sum_of(const UnitBalance& balance) {
    return (balance.units + balance.running + balance.idle + balance.without_units).si();
  }

  fakes::VirtualClock clock_;
  fakes::PlayedThreads threads_;
  UnitEvents events_{clock_};
  UnitTags tags_{8};
  std::optional<UnitBook> book_;
  std::vector<TimePoint> last_;
  std::vector<UnitEnergy> done_;
};

}  // namespace wattle::detail
