// The socket of a run that takes marks: see base/marks.hpp.
#pragma once

#include <functional>
#include <string>

#include "base/files/fd.hpp"
#include "base/marks.hpp"
#include "wattle/clock.hpp"

namespace wattle::app {

/// A socket in a folder of its own, which only this user can enter. Threads: one at a time.
class MarkSocket {
 public:
  /// Makes the folder and the socket: in XDG_RUNTIME_DIR, TMPDIR, /dev/shm or /tmp, the first where
  /// it can be made. Where all fail the run has no phases, and `failure` says why.
  MarkSocket() noexcept;
  /// Removes both.
  ~MarkSocket();
  MarkSocket(const MarkSocket&) = delete;
  MarkSocket& operator=(const MarkSocket&) = delete;

  /// Readable when marks have come; -1: there is no socket.
  [[nodiscard]] int fd() const noexcept { return socket_.get(); }
  /// Its path, for WATTLE_RUN; empty: there is no socket.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

  /// Takes a mark, and the time at which it was sent; an empty one is a datagram that is no mark.
  /// What it returns is sent to who sent the mark, unless it is empty.
  using Take = std::function<std::string(TimePoint, const std::optional<Mark>&)>;
  /// Gives every mark that has come to `take`; at most `most`.
  void receive(const Take& take, std::size_t most);
  /// Takes no more marks.
  void close() noexcept;

 private:
  TimePoint opened_ = Clock::now();
  std::string folder_;
  std::string path_;
  Fd socket_;
  std::string failure_;
};

}  // namespace wattle::app
