// The implementation of a reader of a stream.
#pragma once

#include <condition_variable>
#include <coroutine>
#include <memory>
#include <optional>
#include <vector>

#include "client/update.hpp"
#include "client/update_hub.hpp"
#include "client/update_queue.hpp"
#include "wattle/power_stream.hpp"

namespace wattle {

/// Threads: one at a time, and the hub, for the members that its mutex guards.
class PowerReader::Impl : public std::enable_shared_from_this<PowerReader::Impl> {
 public:
  /// The reader gets everything that is committed from now on.
  [[nodiscard]] static std::shared_ptr<Impl> make(std::shared_ptr<client::UpdateHub> hub,
                                                  const ReaderOptions& options);
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  /// Absent: no deadline.
  [[nodiscard]] const PowerSnapshot* wait(std::optional<TimePoint> deadline);

  /// True if there is a step, or never will be one.
  [[nodiscard]] bool is_ready() const;
  /// False: a step is ready, do not suspend.
  [[nodiscard]] bool suspend(std::coroutine_handle<> who, bool& waits);
  [[nodiscard]] const PowerSnapshot* take();
  void forget_waiting() noexcept;
  /// Resumes the waiting coroutine, unless it was destroyed.
  void resume() noexcept;
  /// The reader is destroyed: nothing is resumed.
  void close() noexcept { forget_waiting(); }

  [[nodiscard]] const PowerSnapshot& readings() const noexcept { return view_.readings(); }
  [[nodiscard]] const std::vector<PowerUpdate>& updates() const noexcept { return updates_; }
  [[nodiscard]] std::uint64_t dropped() const;
  [[nodiscard]] bool has_ended() const noexcept { return hub_->has_ended(); }

 private:
  friend class client::UpdateHub;
  Impl(std::shared_ptr<client::UpdateHub> hub, client::View view, const ReaderOptions& options);

  // All with the hub's mutex held.
  [[nodiscard]] bool has_step() const noexcept { return !queue_.empty() || has_new_state_; }
  [[nodiscard]] const PowerSnapshot* take_step();
  void copy_states();

  const std::shared_ptr<client::UpdateHub> hub_;
  const bool wants_states_;

  // The reader's own.
  client::View view_;
  std::vector<PowerUpdate> updates_;
  std::uint64_t meta_version_ = 0;  ///< of its copy of the servers' states

  // Guarded by the hub's mutex.
  client::UpdateQueue queue_;
  bool has_new_state_ = false;
  bool is_blocked_ = false;
  std::condition_variable changed_;
  std::coroutine_handle<> waiting_;  ///< for a step
  std::coroutine_handle<> due_;      ///< to be resumed: there is a step
};

}  // namespace wattle
