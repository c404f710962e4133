// Searches for devices whose drivers are loaded after the daemon.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "base/worker.hpp"
#include "http/loop.hpp"
#include "sensors/sensor.hpp"

namespace wattle::daemon {

/// Searches in a thread of its own, one search at a time: a driver may hang. Threads: the loop's,
/// except `Find`.
class DeviceSearch {
 public:
  /// At first searches often: at boot, drivers are loaded soon after the daemon starts.
  static constexpr std::chrono::seconds kFirstPeriod{1};
  static constexpr std::chrono::seconds kLongestPeriod{30};

  /// Which kinds are missing now; none: it ends.
  using Wanted = std::function<DomainKinds()>;
  /// Finds devices of these kinds, for as long as their drivers take. Owns what it uses.
  using Find = std::function<Survey(DomainKinds)>;
  using Take = std::function<void(Survey)>;

  DeviceSearch(Loop& loop, Wanted wanted, Find find, Take take);
  /// Searches `kFirstPeriod` from now, and then at periods that double.
  void start();

 private:
  void search();

  Loop& loop_;
  Wanted wanted_;
  Find find_;
  /// Shared with the results, which may come later than the end of this.
  std::shared_ptr<Take> take_;
  std::shared_ptr<bool> is_searching_ = std::make_shared<bool>(false);
  Worker worker_;
  std::chrono::seconds period_ = kFirstPeriod;
  std::unique_ptr<Timer> timer_;
};

}  // namespace wattle::daemon
