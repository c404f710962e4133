// Asks a sensor whose driver may not come back.
#pragma once

#include <functional>
#include <memory>

#include "sensors/sensor.hpp"

namespace wattle::daemon {

/// What becomes of a job where much waits already.
enum class Crowd : std::uint8_t {
  refuses,  ///< the driver must be stuck
  waits,    ///< it comes behind them all: what has to be done before the end
};

/// Does what it is given in a thread of its own, one after the other; the thread starts with the
/// first. One that is stuck in a driver is left behind: it owns what it touches. Threads: any.
class SensorThread {
 public:
  using Job = std::function<void(Sensor&)>;

  explicit SensorThread(std::shared_ptr<Sensor> sensor);
  SensorThread(const SensorThread&) = delete;
  SensorThread& operator=(const SensorThread&) = delete;
  ~SensorThread();

  /// False, and nothing is done, where so much waits already that a crowd `refuses`, or no thread
  /// is to be had. `job` must not throw.
  [[nodiscard]] bool ask(Job job, Crowd crowd = Crowd::refuses);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace wattle::daemon
