#include "sensor_thread.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/thread.hpp"

namespace wattle::daemon {
namespace {

/// Each kind of question is asked once and waits once.
constexpr std::size_t kMostJobs = 16;

}  // namespace

struct SensorThread::State {
  std::shared_ptr<Sensor> sensor;
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<Job> jobs;
  bool started = false;
  bool stopping = false;

  void run() {
    std::unique_lock lock(mutex);
    while (true) {
      wake.wait(lock, [&] { return stopping || !jobs.empty(); });
      if (stopping) return;
      Job job = std::move(jobs.front());
      jobs.pop_front();
      lock.unlock();
      job(*sensor);
      lock.lock();
    }
  }
};

SensorThread::SensorThread(std::shared_ptr<Sensor> sensor) : state_(std::make_shared<State>()) {
  state_->sensor = std::move(sensor);
}

SensorThread::~SensorThread() {
  const std::scoped_lock lock(state_->mutex);
  state_->stopping = true;
  state_->jobs.clear();
  state_->wake.notify_one();
}

bool SensorThread::ask(Job job, Crowd crowd) {
  const std::scoped_lock lock(state_->mutex);
  if (crowd == Crowd::refuses && state_->jobs.size() >= kMostJobs) return false;
  if (!state_->started) {
    try {
      start_detached([state = state_] { state->run(); });
    } catch (const std::system_error&) {
      return false;
    }
    state_->started = true;
  }
  state_->jobs.push_back(std::move(job));
  state_->wake.notify_one();
  return true;
}

}  // namespace wattle::daemon
