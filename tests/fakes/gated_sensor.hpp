// A sensor that may block, as a driver does, for as long as a test holds its gate shut.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "sensors/sensor.hpp"

namespace wattle::fakes {

/// How long a test waits for what is sure to come, on a machine however busy.
inline constexpr std::chrono::seconds kLongWait{60};

/// Waits until `is_so()`; false where that takes too long.
template <class Condition>
bool eventually(Condition is_so) {
  const auto deadline = std::chrono::steady_clock::now() + kLongWait;
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// What a test holds of a sensor, during its life and after. Threads: any.
class Gate {
 public:
  void shut() {
    const std::scoped_lock lock(mutex_);
    shut_ = true;
  }
  void open() {
    const std::scoped_lock lock(mutex_);
    shut_ = false;
    opened_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    waiting = shut_;
    opened_.wait(lock, [&] { return !shut_; });
    waiting = false;
  }

  std::atomic<bool> waiting{false};    ///< somebody stands before it
  std::atomic<bool> destroyed{false};  ///< the sensor is
  std::atomic<int> reads{0};
  std::atomic<ReadStatus> status{ReadStatus::ok};  ///< of every reading from now on
  std::atomic<std::chrono::milliseconds> delay{};  ///< of every read from now on
  std::atomic<bool> signals_are_blocked{false};    ///< in the thread that read last
  std::atomic<bool> tells_processes{true};

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool shut_ = false;
};

/// Every value is the number of times that it was read. Threads: one at a time.
class GatedSensor final : public Sensor {
 public:
  /// `clock` outlives it.
  GatedSensor(std::vector<Channel> channels, std::shared_ptr<Gate> gate, const TimeSource& clock)
      : channels_(std::move(channels)), gate_(std::move(gate)), clock_(clock) {}
  GatedSensor(const GatedSensor&) = delete;
  GatedSensor& operator=(const GatedSensor&) = delete;
  ~GatedSensor() override { gate_->destroyed = true; }

  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  [[nodiscard]] bool may_block() const noexcept override { return true; }
  void read_some(ChannelSet /*wanted*/, std::span<Reading> readings) noexcept override {
    sigset_t blocked;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    gate_->signals_are_blocked =
        ::sigismember(&blocked, SIGINT) == 1 && ::sigismember(&blocked, SIGTERM) == 1 &&
        ::sigismember(&blocked, SIGCHLD) == 1 && ::sigismember(&blocked, SIGUSR1) == 1;
    gate_->pass();
    if (const auto delay = gate_->delay.load(); delay.count() > 0) {
      std::this_thread::sleep_for(delay);
    }
    const auto number = static_cast<std::uint64_t>(++gate_->reads);
    for (Reading& reading : readings) {
      reading = {.at = clock_.now(), .raw = number, .status = gate_->status};
    }
  }
  [[nodiscard]] std::optional<std::vector<DeviceProcess>> processes() override {
    if (!gate_->tells_processes) return std::nullopt;
    return std::vector<DeviceProcess>{{.pid = 1234, .memory_bytes = 1'000'000}};
  }

 private:
  std::vector<Channel> channels_;
  std::shared_ptr<Gate> gate_;
  const TimeSource& clock_;
};

}  // namespace wattle::fakes
