// Passes values from the stream's thread to the readers.
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
#include "client/update.hpp"
#include "wattle/power_stream.hpp"

namespace wattle::client {

/// The callbacks of a stream's user, and the length of the readers' queues.
struct Delivery {
  std::size_t queue_limit = 0;
  std::function<void(const PowerUpdate&)> on_update{};
  std::function<void(std::function<void()>)> executor{};
};

/// Holds the newest values and the list of readers. `commit` makes new values visible, all at once.
/// An update of a known device does not allocate.
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
  /// Updates between two calls of `end_event` belong to the same event.
  void add(const Update& update) {
    batch_.push_back(update);
    batch_.back().ends_event = false;
  }
  void end_event() noexcept {
    if (!batch_.empty()) batch_.back().ends_event = true;
  }
  void set_state(std::size_t server, DeviceType type, ConnectionState state);
  void set_clock(std::size_t server, const ClockOffset& clock);
  /// Why a device's power is unknown; an empty reason: it is known, or there is no reason.
  void set_reason(std::size_t server, const wire::UnknownPower& unknown);
  using Domains = std::map<DeviceId, std::string>;
  /// The names of a server's GPUs and CPUs, without unknown ones.
  void set_domains(std::size_t server, Domains gpus, Domains cpus);
  /// Passes on the values since the last call: to readers, then to the callback; then resumes
  /// waiting readers. Runs code of the user.
  void commit();
  /// Resumes waiting readers without a value.
  void close();

  /// Ends all readers: no more values come.
  void end() noexcept;
  [[nodiscard]] bool has_ended() const noexcept {
    return ended_.load(std::memory_order_acquire) || is_forked();
  }
  /// True in a forked child, where the mutex may stay locked for ever.
  [[nodiscard]] bool is_forked() const noexcept { return forks_ != forks(); }

  [[nodiscard]] const std::vector<Server>& servers() const noexcept { return servers_; }
  [[nodiscard]] PowerSnapshot snapshot() const;

 private:
  friend class PowerReader::Impl;
  using Reader = PowerReader::Impl;

  using Reasons = std::map<DeviceId, std::string>;
  /// The state of a server, except its devices' powers.
  struct Meta {
    ConnectionState gpu{};
    ConnectionState cpu{};
    ClockOffset clock{};
    Reasons gpu_reason{};
    Reasons cpu_reason{};
    Reasons dram_reason{};
    Domains gpu_domain{};
    Domains cpu_domain{};
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
