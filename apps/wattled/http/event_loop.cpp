#include "http/event_loop.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <csignal>
#include <list>
#include <memory>
#include <system_error>
#include <utility>

#include "base/files/fd.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

class AsioTimer final : public Timer {
 public:
  explicit AsioTimer(asio::io_context& context) : timer_(context) {}
  void start(TimePoint when, Work work) override {
    timer_.expires_at(when);
    timer_.async_wait([work = std::move(work)](const error_code& error) {
      if (!error) work();
    });
  }
  void cancel() override { timer_.cancel(); }

 private:
  asio::steady_timer timer_;
};

class AsioWatch final : public Watch {
 public:
  AsioWatch(asio::posix::stream_descriptor descriptor, Work fail)
      : descriptor_(std::move(descriptor)), fail_(std::make_shared<Work>(std::move(fail))) {}
  AsioWatch(const AsioWatch&) = delete;
  AsioWatch& operator=(const AsioWatch&) = delete;
  ~AsioWatch() override { (void)descriptor_.release(); }

  void wait_readable(Work work) override {
    wait(asio::posix::descriptor_base::wait_read, std::move(work));
  }
  void wait_writable(Work work) override {
    wait(asio::posix::descriptor_base::wait_write, std::move(work));
  }

 private:
  void wait(asio::posix::descriptor_base::wait_type what, Work work) {
    descriptor_.async_wait(
        what, [work = std::move(work), fail = std::weak_ptr(fail_)](const error_code& error) {
          if (!error) return work();
          // Destroying a watch aborts its wait.
          const auto alive = fail.lock();
          if (alive && error != asio::error::operation_aborted) (*alive)();
        });
  }

  asio::posix::stream_descriptor descriptor_;
  std::shared_ptr<Work> fail_;
};

/// A signalfd. Unlike Asio's signal_set, it reports if the kernel cannot wait for it.
struct AwaitedSignal {
  Fd fd;
  std::unique_ptr<Watch> watch;
  Work work;

  void wait() {
    watch->wait_readable([this] {
      signalfd_siginfo came{};
      while (::read(fd.get(), &came, sizeof came) == sizeof came) work();
      wait();
    });
  }
};

}  // namespace

struct EventLoop::Impl {
  /// Shared with threads that are stuck in a driver: they may post after the loop is gone.
  std::shared_ptr<asio::io_context> context = std::make_shared<asio::io_context>(1);
  std::list<AwaitedSignal> signals;
};

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) {}
EventLoop::~EventLoop() = default;

std::unique_ptr<Timer> EventLoop::make_timer() {
  return std::make_unique<AsioTimer>(*impl_->context);
}

std::unique_ptr<Watch> EventLoop::watch(int fd, Work fail) {
  asio::posix::stream_descriptor descriptor(*impl_->context);
  error_code error;
  descriptor.assign(fd, error);
  if (error) return nullptr;
  return std::make_unique<AsioWatch>(std::move(descriptor), std::move(fail));
}

Loop::Poster EventLoop::poster() {
  return [context = impl_->context](Work work) { asio::post(*context, std::move(work)); };
}

void EventLoop::on_signal(int signal, const Work& work) {
  sigset_t one;
  ::sigemptyset(&one);
  ::sigaddset(&one, signal);
  // Blocked, it waits in the descriptor.
  ::pthread_sigmask(SIG_BLOCK, &one, nullptr);
  Fd fd(::signalfd(-1, &one, SFD_CLOEXEC | SFD_NONBLOCK));
  const int number = errno;
  // If a later wait fails, the signal must still end the daemon.
  std::unique_ptr<Watch> watch = fd ? this->watch(fd.get(), [this] { stop(); }) : nullptr;
  if (!watch) {
    const std::string why =
        fd ? "the kernel has no room for it" : std::generic_category().message(number);
    throw Error("cannot wait for signals: " + why);
  }
  impl_->signals.push_back({.fd = std::move(fd), .watch = std::move(watch), .work = work});
  impl_->signals.back().wait();
}

void EventLoop::run() {
  // Keeps run() waiting for posts.
  const auto stays = asio::make_work_guard(*impl_->context);
  impl_->context->run();
}

void EventLoop::stop() { impl_->context->stop(); }

}  // namespace wattle::daemon
