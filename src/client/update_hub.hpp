// Where the stream's thread puts what it heard, and readers take it from.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/forks.hpp"
#include "client/clock_offset.hpp"
#include "client/update.hpp"
#include "client/view.hpp"
#include "wattle/power_stream.hpp"

namespace wattle::client {

/// What the user of a stream wants to be called, and how far readers may fall behind.
struct Delivery {
  std::size_t queue_limit = 0;
  std::function<void(const PowerUpdate&)> on_update{};
  std::function<void(std::function<void()>)> executor{};
};

/// The newest of everything, and who reads it. What is put here shows after `commit`, all at once.
/// Nothing is allocated for an update of a device that is known.
///
/// Threads: `new_slot`, `add`, `end_event`, `set_...`, `commit`, `close` one at a
/// time (the stream's); everything else any.
class UpdateHub {
 public:
  UpdateHub(std::vector<Server> servers, Delivery delivery);
  UpdateHub(const UpdateHub&) = delete;
  UpdateHub& operator=(const UpdateHub&) = delete;
  ~UpdateHub() = default;

  /// A new number for a device.
  [[nodiscard]] std::uint32_t new_slot(const Slot& slot);
  /// Belongs to the same event as what is added before the next `end_event`.
  void add(const Update& update) {
    batch_.push_back(update);
    batch_.back().ends_event = false;
  }
  void end_event() noexcept {
    if (!batch_.empty()) batch_.back().ends_event = true;
  }
  void set_state(std::size_t server, DeviceType type, ConnectionState state);
  void set_clock(std::size_t server, const ClockOffset& clock);
  /// Why a device's power is not known; an empty reason: it is, or nothing is said of it.
  void set_reason(std::size_t server, const wire::UnknownPower& unknown);
  /// Hands out what was put here since the last time: to readers, then to the callback; then those
  /// who wait are resumed. Code of the user runs in it.
  void commit();
  /// Resumes those who still wait, with nothing.
  void close();

  /// There is nothing more to read from now on.
  void end() noexcept;
  [[nodiscard]] bool has_ended() const noexcept {
    return ended_.load(std::memory_order_acquire) || is_forked();
  }
  /// This is a child's copy: its mutex may never be free.
  [[nodiscard]] bool is_forked() const noexcept { return forks_ != forks(); }

  [[nodiscard]] const std::vector<Server>& servers() const noexcept { return servers_; }
  [[nodiscard]] PowerSnapshot snapshot() const;

 private:
  friend class PowerReader::Impl;
  using Reader = PowerReader::Impl;

  using Reasons = std::map<DeviceId, std::string>;
  /// What is known of a server beside its devices' powers.
  struct Meta {
    ConnectionState gpu{};
    ConnectionState cpu{};
    ClockOffset clock{};
    Reasons gpu_reason{};
    Reasons cpu_reason{};
    Reasons dram_reason{};
    std::uint64_t version = 0;  ///< counts the changes of all
    void copy_to(PowerReadings& readings) const;
    [[nodiscard]] Reasons& reasons(DeviceType type, bool is_dram) noexcept;
  };

  [[nodiscard]] PowerUpdate public_update(const Update& update) const;
  // With the mutex held.
  [[nodiscard]] View view() const;
  void hand_out();
  void wake(Reader& reader);
  void resume_due();

  const std::vector<Server> servers_;
  const Delivery delivery_;
  const std::uint64_t forks_;
  std::atomic<bool> ended_{false};

  // The stream's thread alone.
  std::vector<Update> batch_;
  std::vector<std::shared_ptr<Reader>> due_;

  mutable std::mutex mutex_;
  std::vector<Slot> slots_;
  std::vector<Update> latest_;  ///< by slot; gone: there is none
  std::vector<Meta> metas_;     ///< by server
  std::uint64_t meta_version_ = 0;
  std::vector<Reader*> readers_;
  bool states_changed_ = false;  ///< since the last commit
};

}  // namespace wattle::client
