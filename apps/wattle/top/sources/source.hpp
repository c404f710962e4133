// Where the observations of `wattle top` come from: this machine, a recording, other machines.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "top/observation.hpp"
#include "top/top_options.hpp"

namespace wattle::app {

/// Threads: one at a time.
class TopSource {
 public:
  TopSource() = default;
  TopSource(const TopSource&) = delete;
  TopSource& operator=(const TopSource&) = delete;
  virtual ~TopSource() = default;

  /// Readable when `take` has something to do; -1: there is nothing more to come.
  [[nodiscard]] virtual int fd() const noexcept = 0;
  /// The next observation, if it is there.
  [[nodiscard]] virtual std::optional<TopObservation> take() = 0;
  /// The session starts again.
  virtual void reset() {}
  /// Sets the speed of a replay.
  virtual void set_speed(double /*speed*/) {}
};

/// Throws `NoSuchDevice` where nothing can be shown, `InvalidArgument` for a file that is no
/// recording, `Error`.
[[nodiscard]] std::unique_ptr<TopSource> make_source(const TopOptions& options);

/// A recording at a speed. A line that is damaged is left out.
[[nodiscard]] std::unique_ptr<TopSource> make_replay(const std::string& path, double speed);

/// The machines of `options.servers`, by their daemons. `options` outlives it. Throws
/// `InvalidArgument` for what is no server, also from `take`.
[[nodiscard]] std::unique_ptr<TopSource> make_stream(const TopOptions& options);

}  // namespace wattle::app
