// The energy counters of one server's devices, asked for one after the other.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "client/followed_stream.hpp"
#include "client/inquiry.hpp"
#include "client/surroundings.hpp"
#include "wire/messages.hpp"

namespace wattle::client {

/// Asks a daemon for the energy that its devices have counted, and books it; does nothing where
/// nobody keeps a book. A daemon that refuses is not asked again. Apart from what else a server is
/// asked: a device that hangs keeps its counter's answer back for long.
///
/// Threads: one at a time (the stream's).
class ServerCounters {
 public:
  ServerCounters(std::size_t place, Surroundings& around);

  /// The daemon may have counters of these devices: it has said what it serves.
  void expect(DeviceType type) noexcept;
  /// Nothing is being asked.
  [[nodiscard]] bool is_idle() const noexcept { return !inquiry_ || inquiry_->is_idle(); }
  [[nodiscard]] bool is_due(DeviceType type) const noexcept;
  /// When to ask next.
  [[nodiscard]] TimePoint due(DeviceType type) const noexcept;
  /// `target`: where the daemon tells them. `stream`: of the same devices; it outlives this.
  void ask(const FollowedStream& stream, std::string target);

 private:
  void book(const FollowedStream& stream, const Answer& answer);
  void book_cpus(const FollowedStream& stream, const Answer& answer, bool may_be_another);
  void book_one(Quantity quantity, DeviceId device, std::uint64_t ticks, const Answer& answer,
                bool goes_on);

  std::size_t place_;
  Surroundings& around_;
  std::unique_ptr<Inquiry> inquiry_;  ///< null: nobody keeps a book

  struct OfType {
    TimePoint due{};
    bool is_counted = false;         ///< the daemon has such counters
    std::uint64_t known_losses = 0;  ///< of the stream, when they were last booked
  };
  std::array<OfType, 2> types_{};                  ///< by DeviceType
  std::map<DeviceId, wire::UnixMs> cpu_since_ms_;  ///< since when its counters count, if told
};

}  // namespace wattle::client
