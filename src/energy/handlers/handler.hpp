// Shared by the handlers: energies in micro-joules, as pyJoules gives them out, details beside
// them, tables whose samples have the same columns, and items that are kept until they are saved.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/text/text.hpp"
#include "wattle/energy.hpp"
#include "wattle/energy_trace.hpp"
#include "wattle/error.hpp"
#include "wattle/export.hpp"
#include "wattle/handlers.hpp"

namespace wattle {

/// An energy in micro-joules: nothing where it is unknown (or no finite number), an integer for
/// an NVIDIA GPU, a float for all else.
using MicroJoules = std::variant<std::monostate, double, std::int64_t>;

/// `domain`: "package_0"; a name that starts with "nvidia_gpu_" is an NVIDIA GPU's. Rounded to
/// a thousandth of a micro-joule, far below any counter's tick: 0.123456 J are 123456.0, not
/// 123455.99999999999. Exported for the component wattle::mongodb.
[[nodiscard]] WATTLE_EXPORT MicroJoules micro_joules(std::string_view domain,
                                                     const MeasuredEnergy& measured) noexcept;

/// The energy of the sample's domain number `index`. Absent for a lower bound unless `details` are
/// written beside it, since the formats cannot mark it otherwise. Exported for the component
/// wattle::mongodb.
[[nodiscard]] WATTLE_EXPORT MicroJoules micro_joules(const EnergySample& sample, std::size_t index,
                                                     SampleDetails details);
/// The uncertainty to two digits; nothing where the energy is unknown. Exported likewise.
[[nodiscard]] WATTLE_EXPORT MicroJoules uncertainty_micro_joules(const MeasuredEnergy& measured);

/// Adds a number as Python's repr of it, and `unknown` for nothing.
void append_micro_joules(std::string& out, const MicroJoules& value, std::string_view unknown);

/// Micro-joules of the uncertainty (nothing where the energy is unknown), `between`, seconds that
/// are not known, `between`, flags with blanks between them.
void append_sample_details(std::string& out, const MeasuredEnergy& energy,
                           std::string_view between);

/// Logs, once for a trace, that lower bounds were left out, with their domains. Exported for the
/// component wattle::mongodb.
WATTLE_EXPORT void warn_of_lower_bounds(const EnergyTrace& trace, std::string_view destination);

/// Throws `InconsistentSamples` where a sample has other domains than `expected`, or in another
/// order.
inline void require_same_domains(const DomainNames& expected, const EnergyTrace& trace) {
  for (const EnergySample& sample : trace) {
    if (sample.domains() == expected || *sample.domains() == *expected) continue;
    throw InconsistentSamples("the sample \"" + printable(sample.tag()) +
                              "\" was measured over other domains than the first sample; "
                              "give each list of domains a handler of its own");
  }
}

/// Logs that `count` of `what` ("samples") never reached `destination`. Exported for the component
/// wattle::mongodb.
WATTLE_EXPORT void log_unsaved(std::size_t count, std::string_view what,
                               std::string_view destination) noexcept;

/// A queue whose items are taken all at once, and come back where they could not be saved.
/// Threads: any; adding never waits for a save.
template <class Item>
class Unsaved {
 public:
  /// The items taken. Those left at its destruction are put back, before all others.
  class Batch {
   public:
    explicit Batch(Unsaved& from) : from_(from) {
      const std::lock_guard lock(from_.mutex_);
      items_.swap(from_.items_);
    }
    ~Batch() {
      const std::lock_guard lock(from_.mutex_);
      from_.items_.splice(from_.items_.begin(), items_);
    }
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    [[nodiscard]] std::list<Item>& items() noexcept { return items_; }

   private:
    Unsaved& from_;
    std::list<Item> items_;
  };

  /// `make()` makes the item; called by one thread at a time.
  template <class Make>
  void add(Make make) {
    const std::lock_guard lock(mutex_);
    items_.push_back(make());
  }

  /// The samples that will not be saved. None in a process that was forked from the one that made
  /// this object: there it is a copy, which the other answers for.
  [[nodiscard]] const std::list<Item>& at_end() noexcept {
    if (::getpid() != owner_) items_.clear();
    return items_;
  }

 private:
  const pid_t owner_ = ::getpid();
  std::mutex mutex_;
  std::list<Item> items_;
};

}  // namespace wattle
