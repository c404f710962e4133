// Reads the energy counters of one server's devices.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "client/followed_stream.hpp"
#include "client/stream_context.hpp"
#include "client/transport/transport.hpp"
#include "wire/messages.hpp"

namespace wattle::client {

/// Asks a daemon for the energy counters of its devices, and puts them into the book. Does nothing
/// without a book. Does not ask again if the daemon refuses. Uses its own `Inquiry`: a device that
/// hangs delays the answer for long.
///
/// Threads: one at a time (the stream's).
class ServerCounters {
 public:
  ServerCounters(std::size_t place, StreamContext& around);

  /// The daemon serves these devices, and may have counters of them.
  void expect(DeviceType type) noexcept;
  /// True if no request is in progress.
  [[nodiscard]] bool is_idle() const noexcept { return !inquiry_ || inquiry_->is_idle(); }
  [[nodiscard]] bool is_due(DeviceType type) const noexcept;
  /// The time of the next request.
  [[nodiscard]] TimePoint due(DeviceType type) const noexcept;
  /// `target`: the route of the counters. `stream`: of the same devices; outlives this object.
  void ask(const FollowedStream& stream, std::string target);

 private:
  void book(const FollowedStream& stream, const InquiryAnswer& answer);
  void book_cpus(const FollowedStream& stream, const InquiryAnswer& answer, bool may_be_another);
  void book_one(MeasuredQuantity quantity, DeviceId device, std::uint64_t ticks, const ReadAt& read,
                bool goes_on);

  std::size_t place_;
  StreamContext& context_;
  std::unique_ptr<Inquiry> inquiry_;  ///< null: there is no book

  struct OfType {
    TimePoint due{};
    bool is_counted = false;         ///< the daemon has such counters
    std::uint64_t known_losses = 0;  ///< of the stream, at the last booking
  };
  std::array<OfType, 2> types_{};  ///< by DeviceType
  std::map<DeviceId, wire::UnixMs>
      cpu_since_ms_;  ///< start of its counters, if the daemon reports it
};

}  // namespace wattle::client
