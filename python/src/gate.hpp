// The way from threads of the library into Python, and what waits without the GIL.
#pragma once

#include <pybind11/pybind11.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace wattle::python {

namespace py = pybind11;

/// Lets threads of the library call Python until the interpreter ends. Threads: any.
class Gate {
 public:
  /// Never destroyed: threads of the library may outlive static objects.
  static Gate& instance() noexcept;

  /// Calls `function` with the GIL; false, and not called, once the interpreter ends.
  template <class Function>
  bool enter(Function function) {
    const std::shared_lock lock(*mutex_);
    if (closed_) return false;
    const py::gil_scoped_acquire gil;
    function();
    return true;
  }

  /// Waits for those who are inside. The caller holds the GIL.
  void close();
  /// In the child of a fork: no other thread exists, whatever the lock says.
  void reopen_after_fork();

 private:
  Gate() = default;

  // Replaced after a fork, and never freed: a lock that another thread held cannot be destroyed.
  std::shared_mutex* mutex_ = new std::shared_mutex;
  bool closed_ = false;
};

/// Releases the GIL for as long as it lives. The caller holds the GIL.
class ReleasedGil {
 public:
  ReleasedGil() : thread_(PyEval_SaveThread()) {}
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;
  ~ReleasedGil() {
    try {
      PyEval_RestoreThread(thread_);
    } catch (...) {
      // A daemon thread at the end of the interpreter: Python ends it by unwinding, which would end
      // the process in a destructor. It waits for the end of the process instead. Nothing else is
      // thrown, and an unwinding has no object that a reference could be bound to.
      while (true) ::pause();
    }
  }

 private:
  PyThreadState* thread_;
};

/// Calls `function` without the GIL.
template <class Function>
auto unlocked(Function&& function) {
  const ReleasedGil release;
  return std::forward<Function>(function)();
}

/// Destroys without the GIL: threads that the destructor waits for may want it.
template <class Object>
struct UnlockedDelete {
  void operator()(Object* object) const noexcept {
    if (PyGILState_Check() == 0) {
      delete object;
      return;
    }
    const ReleasedGil release;
    delete object;
  }
};

template <class Object>
using Holder = std::unique_ptr<Object, UnlockedDelete<Object>>;

/// Calls `function` in a thread of its own, without the GIL, and returns what it returns. Ctrl-C
/// ends the wait within 50 ms: the thread ends when the function does, and its result is dropped.
/// The function owns all that it uses, and touches no Python object.
template <class Function>
auto interruptible(Function function) -> decltype(function()) {
  using Result = decltype(function());
  struct Call {
    explicit Call(Function made) : function(std::move(made)) {}
    Function function;
    std::mutex mutex;
    std::condition_variable ended;
    bool has_ended = false;
    std::optional<Result> result;
    std::exception_ptr error;
  };
  const auto call = std::make_shared<Call>(std::move(function));
  const auto run = [call] {
    try {
      call->result.emplace(call->function());
    } catch (...) {
      call->error = std::current_exception();
    }
    const std::lock_guard lock(call->mutex);
    call->has_ended = true;
    call->ended.notify_all();
  };
  // Signals go to the threads of Python.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool is_started = true;
  try {
    std::thread(run).detach();
  } catch (const std::system_error&) {
    is_started = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!is_started) unlocked(run);
  while (true) {
    const bool has_ended = unlocked([&] {
      std::unique_lock lock(call->mutex);
      return call->ended.wait_for(lock, std::chrono::milliseconds(50),
                                  [&] { return call->has_ended; });
    });
    if (has_ended) break;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
  if (call->error) std::rethrow_exception(std::exchange(call->error, nullptr));
  return std::move(*call->result);
}

}  // namespace wattle::python
