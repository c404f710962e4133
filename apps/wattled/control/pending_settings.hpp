// The settings that wait to be made on one GPU.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "control/setting_kind.hpp"
#include "devices/gpus.hpp"

namespace wattle::daemon {

/// The end of a request to set one GPU.
struct SettingOutcome {
  std::optional<DeviceFault> fault{};
  /// Not made, since a later request for the same settings was.
  bool is_superseded = false;
  std::size_t superseded = 0;  ///< the earlier requests that this one replaced
};

/// The newest request for one kind of setting is made. That answers the older ones too. They are
/// made only if all newer ones fail: an accepted setting is made or superseded by one that was.
/// What arrives after a failure waits for the older ones: a flood of settings that fail delays no
/// other for long. One setting is made at a time, and the kinds take turns. Threads: one at a time.
class PendingSettings {
 public:
  /// Numbers requests in the order of their arrival, from 1.
  using Ticket = std::uint64_t;
  /// Is called once. May add requests.
  using Done = std::function<void(const SettingOutcome&)>;
  struct Attempt {
    Ticket ticket = 0;
    std::vector<DeviceSetting> settings{};
  };

  /// Most requests of one kind whose callers do not wait; the oldest count as superseded.
  static constexpr std::size_t kMostUnawaited = 64;

  /// `settings`: at least one, each of another kind. `is_awaited`: the caller waits for `done`.
  Ticket add(const std::vector<DeviceSetting>& settings, Done done, bool is_awaited);
  /// The next to be made, until `finish`; absent: nothing waits, or one is being made. `joins`: all
  /// settings of a request are made by one call, not each by its own.
  [[nodiscard]] std::optional<Attempt> start(bool joins);
  /// Ends the attempt.
  void finish(const std::optional<DeviceFault>& fault);
  [[nodiscard]] const std::optional<Attempt>& current() const noexcept { return current_; }
  /// Removes a request, without `done`. False: it is being made.
  [[nodiscard]] bool withdraw(Ticket ticket);
  /// Ends all requests that are not being made.
  void drop(const DeviceFault& why);
  /// The number of callers that wait.
  [[nodiscard]] std::size_t awaited() const noexcept { return awaited_; }

 private:
  struct SettingPart {
    Ticket ticket = 0;
    DeviceSetting setting{};
    bool is_awaited = false;
  };
  struct SettingSlot {
    std::vector<SettingPart> parts{};  ///< in the order of their arrival
    Ticket made = 0;                   ///< the newest that was made
    Ticket failed = 0;                 ///< older ones come before newer ones than this; 0: none

    /// The next to be made; null: there is none.
    [[nodiscard]] const SettingPart* next() const noexcept;
  };
  struct SettingRequest {
    Done done;
    std::size_t open_parts = 0;
    bool is_awaited = false;
    bool is_made = false;
    SettingOutcome outcome{};
  };
  using Ended = std::vector<std::pair<Done, SettingOutcome>>;

  [[nodiscard]] bool is_current(Ticket ticket) const noexcept {
    return current_ && current_->ticket == ticket;
  }
  [[nodiscard]] SettingSlot& slot_of(const DeviceSetting& setting) noexcept {
    return slots_.at(static_cast<std::size_t>(kind_of(setting)));
  }
  /// Ends one setting of a request, and the request with its last one.
  void end_part(Ticket ticket, Ended& ended);
  void fail_part(Ticket ticket, const DeviceFault& fault, Ended& ended);
  /// Ends the parts that `made` supersedes, and itself.
  void end_made(SettingSlot& slot, Ticket made, Ended& ended);
  void limit_unawaited(SettingSlot& slot, Ended& ended);
  static void call(const Ended& ended);

  std::array<SettingSlot, kSettingKinds> slots_;
  std::map<Ticket, SettingRequest> requests_;
  std::optional<Attempt> current_;
  Ticket last_ = 0;
  std::size_t awaited_ = 0;
};

}  // namespace wattle::daemon
