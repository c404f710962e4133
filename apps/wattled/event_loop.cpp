#include "event_loop.hpp"

// Boost 1.74 uses std::exchange without saying so.
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <list>
#include <memory>
#include <utility>

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
          // A watch that is destroyed has its wait aborted.
          const auto alive = fail.lock();
          if (alive && error != asio::error::operation_aborted) (*alive)();
        });
  }

  asio::posix::stream_descriptor descriptor_;
  std::shared_ptr<Work> fail_;
};

}  // namespace

struct EventLoop::Impl {
  /// Shared with threads that are stuck in a driver: they may post when nobody listens any more.
  std::shared_ptr<asio::io_context> context = std::make_shared<asio::io_context>(1);
  std::list<asio::signal_set> signals;
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
  asio::signal_set& set = impl_->signals.emplace_back(*impl_->context, signal);
  const auto wait = [&set, work](const auto& self) -> void {
    set.async_wait([self, work](const error_code& error, int) {
      if (error) return;
      work();
      self(self);
    });
  };
  wait(wait);
  sigset_t one;
  ::sigemptyset(&one);
  ::sigaddset(&one, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
}

void EventLoop::run() {
  // A loop that waits for nothing waits for posts.
  const auto stays = asio::make_work_guard(*impl_->context);
  impl_->context->run();
}

void EventLoop::stop() { impl_->context->stop(); }

}  // namespace wattle::daemon
