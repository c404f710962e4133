#include "energy/running_window.hpp"

#include <exception>

#include "base/forks.hpp"
#include "base/log.hpp"

namespace wattle::detail {
namespace {

struct AllThreads {
  std::atomic<int> running{0};  ///< threads with a window that goes on
  std::atomic<std::uint64_t> forks{0};
  std::atomic<bool> was_reported{false};
};

AllThreads& all_threads() noexcept {
  static AllThreads all;
  return all;
}

/// Windows go on that outlive their thread.
const std::shared_ptr<RunningWindow::OfThread>& this_thread() {
  thread_local const auto own = std::make_shared<RunningWindow::OfThread>(0);
  return own;
}

void report() noexcept {
  if (all_threads().was_reported.exchange(true)) return;
  log("windows of several threads overlap: each has the energy of the whole machine in its time. "
      "Do "
      "not add them, and take none of them for the energy of its thread (docs/energy-meter.md, "
      "\"Threads\")");
}

}  // namespace

void RunningWindow::start() noexcept {
  end();
  AllThreads& all = all_threads();
  forks_ = forks();
  // The threads of the parent are not in a child.
  if (all.forks.exchange(forks_) != forks_) all.running = 0;
  try {
    thread_ = this_thread();
  } catch (const std::exception&) {  // no memory: nothing is reported
    return;
  }
  if (thread_->fetch_add(1) > 0) return;
  if (all.running.fetch_add(1) > 0) report();
}

void RunningWindow::end() noexcept {
  if (!thread_) return;
  const bool was_last = thread_->fetch_sub(1) == 1;
  if (was_last && forks_ == forks()) all_threads().running.fetch_sub(1);
  thread_.reset();
}

}  // namespace wattle::detail
