// `wattle top`: the machine, live, until the user quits.
#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/clock.hpp"
#include "base/files/line_file.hpp"
#include "cli/answer.hpp"
#include "cli/waiting.hpp"
#include "output/output.hpp"
#include "output/screen.hpp"
#include "top/frame.hpp"
#include "top/lines.hpp"
#include "top/sources/record.hpp"
#include "top/sources/source.hpp"
#include "top/terminal.hpp"
#include "top/top_options.hpp"
#include "top/view.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

constexpr int kNothingToShow = 2;

/// The terminal's size has changed, or the program is stopped, continues, or is to die, by another
/// signal than those of `end_signals`.
constexpr std::array kScreenSignals = {SIGTSTP, SIGCONT, SIGWINCH, SIGQUIT,
                                       SIGUSR1, SIGUSR2, SIGALRM,  SIGXCPU};

sigset_t set_of(int signal) noexcept {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, signal);
  return set;
}

/// Does what the signal does by default. Returns where it does not end the program.
void do_default(int signal) noexcept {
  const sigset_t set = set_of(signal);
  ::raise(signal);
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

/// Stops, and returns when it continues. False: it did not stop, since nobody could continue it.
bool stop_here() noexcept {
  const sigset_t cont = set_of(SIGCONT);
  constexpr timespec kNow{};
  (void)::sigtimedwait(&cont, nullptr, &kNow);
  do_default(SIGTSTP);
  return ::sigtimedwait(&cont, nullptr, &kNow) == SIGCONT;
}

bool is_readable(const Fd& fd) noexcept {
  pollfd waited{.fd = fd.get(), .events = POLLIN, .revents = 0};
  return ::poll(&waited, 1, 0) == 1;
}

/// Stops until this program is in the foreground of its terminal. False: it is to end before.
/// Throws `Error`: it will never be there.
bool wait_for_foreground(const Fd& end) {
  while (is_in_background()) {
    if (is_readable(end)) return false;
    if (stop_here() || is_readable(end)) continue;
    throw Error(
        "cannot use the terminal: another program has it, and no shell is left to bring this one "
        "back; --once prints one table");
  }
  return true;
}

/// Writes a recording, if there is one.
class TopRecorder {
 public:
  explicit TopRecorder(const std::string& path) {
    if (path.empty()) return;
    file_.emplace(path, std::string(kTopRecordStart), top_record_header());
    file_->clear();
  }
  void add(const TopObservation& seen) {
    if (file_) file_->add(to_record_line(seen));
  }

 private:
  std::optional<LineFile> file_{};
};

/// The screen, what it shows, and what keys change of it.
class LiveTop {
 public:
  LiveTop(const TopOptions& options, TopSource& source)
      : source_(source), style_(style_of(STDOUT_FILENO)) {
    style_.unicode = style_.unicode && !options.ascii;
    view_.key = options.key;
    view_.units = options.units;
    view_.is_replay = !options.replay.empty();
    view_.speed = options.speed;
  }

  /// Until the user or a signal ends it.
  void run(const Fd& end, const Fd& signals, TopRecorder& record) {
    draw();
    while (!is_over_ && !terminal_.output().is_over()) {
      std::array<pollfd, 5> waited = {
          pollfd{.fd = end.get(), .events = POLLIN, .revents = 0},
          pollfd{.fd = signals.get(), .events = POLLIN, .revents = 0},
          pollfd{.fd = source_.fd(), .events = POLLIN, .revents = 0},
          pollfd{.fd = terminal_.input(), .events = POLLIN, .revents = 0},
          // Also for a frame that it had no room for.
          pollfd{
              .fd = terminal_.output().has_rest() || needs_drawing_ ? terminal_.output().fd() : -1,
              .events = POLLOUT,
              .revents = 0}};
      patient_poll(waited, keys_.wait_ms(machine_clock().now()));
      if (waited[0].revents != 0 && has_come(end)) return;
      if (waited[1].revents != 0) take_signals(signals, end);
      if (waited[3].revents != 0) {
        take_keys();
      } else if (const auto key = keys_.end_sequence(machine_clock().now())) {
        take(*key);
      }
      if (waited[2].revents != 0) take_observation(record);
      if (waited[4].revents != 0) terminal_.output().flush();
      if (needs_drawing_ && !is_over_ && !terminal_.output().has_rest()) draw();
    }
  }

 private:
  void take_observation(TopRecorder& record) {
    auto seen = source_.take();
    if (!seen) return;
    record.add(*seen);
    trails_.add(*seen);
    newest_ = std::make_shared<const TopObservation>(std::move(*seen));
    if (view_.is_paused) return;
    shown_ = newest_;
    needs_drawing_ = true;
  }

  void take_signals(const Fd& signals, const Fd& end) {
    signalfd_siginfo info{};
    while (::read(signals.get(), &info, sizeof info) == sizeof info) {
      switch (info.ssi_signo) {
        case SIGTSTP:
          terminal_.leave();
          (void)stop_here();
          come_back(end);
          break;
        case SIGCONT:
          come_back(end);
          break;
        case SIGWINCH:
          break;
        default:
          terminal_.leave();
          do_default(static_cast<int>(info.ssi_signo));
          is_over_ = true;
          break;
      }
    }
    needs_drawing_ = true;
  }

  /// After it was stopped.
  void come_back(const Fd& end) {
    if (wait_for_foreground(end)) {
      terminal_.enter();
    } else {
      is_over_ = true;
    }
  }

  void take_keys() {
    const auto bytes = terminal_.read_keys();
    if (!bytes) {
      is_over_ = true;  // the terminal is gone
      return;
    }
    for (const Key& key : keys_.take(*bytes, machine_clock().now())) take(key);
  }

  void take(const Key& key) {
    const bool was_paused = view_.is_paused;
    const TopEffect effect = apply(key, view_, hits_);
    if (was_paused && !view_.is_paused) shown_ = newest_;
    switch (effect) {
      case TopEffect::none:
        return;
      case TopEffect::quit:
        is_over_ = true;
        return;
      case TopEffect::reset:
        source_.reset();
        trails_.clear();
        break;
      case TopEffect::speed:
        source_.set_speed(view_.speed);
        break;
      case TopEffect::repaint:
        terminal_.forget();
        break;
      case TopEffect::redraw:
        break;
    }
    needs_drawing_ = true;
  }

  void draw() {
    const ScreenSize size = terminal_.size();
    TextStyle style = style_;
    style.width = size.columns;
    TopFrame frame =
        frame_of(*shown_, group_rows(*shown_, view_.shown_key()), trails_, view_, size, style);
    hits_ = std::move(frame.hits);
    needs_drawing_ = !terminal_.draw(frame.lines, size);
  }

  TopSource& source_;
  TextStyle style_;
  TopView view_{};
  TopHits hits_{};
  PowerTrails trails_{};
  std::shared_ptr<const TopObservation> newest_ = std::make_shared<const TopObservation>();
  std::shared_ptr<const TopObservation> shown_ = newest_;
  KeyDecoder keys_{};
  Terminal terminal_{};
  bool needs_drawing_ = false;
  bool is_over_ = false;
};

/// A line that was started is written to its end, while its reader reads.
void write_rest(LiveOutput& out, const Fd& end) {
  constexpr int kPatienceMs = 1000;
  while (out.has_rest() && !out.is_over()) {
    std::array<pollfd, 2> waited = {pollfd{.fd = end.get(), .events = POLLIN, .revents = 0},
                                    pollfd{.fd = out.fd(), .events = POLLOUT, .revents = 0}};
    patient_poll(waited, kPatienceMs);
    if (waited[1].revents == 0) return;
    out.flush();
  }
}

void print_lines(const TopOptions& options, TopSource& source, const Fd& end, TopRecorder& record) {
  LiveOutput out = LiveOutput::of_stdout();
  const bool is_replay = !options.replay.empty();  // which can wait for a reader
  while (!out.is_over() && (source.fd() >= 0 || out.has_rest())) {
    std::array<pollfd, 3> waited = {
        pollfd{.fd = end.get(), .events = POLLIN, .revents = 0},
        pollfd{
            .fd = is_replay && out.has_rest() ? -1 : source.fd(), .events = POLLIN, .revents = 0},
        pollfd{.fd = out.has_rest() ? out.fd() : -1, .events = POLLOUT, .revents = 0}};
    patient_poll(waited, -1);
    if (waited[0].revents != 0 && has_come(end)) break;
    if (waited[2].revents != 0) out.flush();
    if (waited[1].revents == 0) continue;
    const auto seen = source.take();
    if (!seen) continue;
    record.add(*seen);
    (void)out.put(json_line(*seen, group_rows(*seen, options.key), options.key));
  }
  write_rest(out, end);
  out.close();
}

}  // namespace

int execute(const TopOptions& options) {
  if (options.once) return top_once(options);
  if (!options.json && ::isatty(STDOUT_FILENO) != 1) {
    return print_answer(usage_error("top",
                                    "stdout is not a terminal; --once prints one table, --json one "
                                    "line per period"));
  }
  const ScreenMessages messages("top", !options.json);
  const Fd end = end_signals();
  if (!options.json) {
    // A parent that ignores them does not ask for a screen of the wrong size.
    for (const int signal : {SIGWINCH, SIGCONT}) static_cast<void>(std::signal(signal, SIG_DFL));
  }
  const Fd signals = options.json ? Fd() : signal_fd(kScreenSignals);
  try {
    const std::unique_ptr<TopSource> source = make_source(options);
    TopRecorder record(options.record);
    if (options.json) {
      print_lines(options, *source, end, record);
    } else if (wait_for_foreground(end)) {
      LiveTop(options, *source).run(end, signals, record);
    }
  } catch (const NoSuchDevice& none) {
    print_message("top", none.what());
    return kNothingToShow;
  }
  return 0;
}

}  // namespace wattle::app
