#include "log.hpp"

#include <cstddef>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "wattle/error.hpp"

namespace wattle::python {
namespace {

namespace py = pybind11;

/// Messages that wait for Python. Never destroyed: threads may log while the program ends.
struct Queue {
  std::mutex* mutex = new std::mutex;
  std::vector<std::string> messages;
  bool is_installed = false;
  bool is_announced = false;
  PyObject* deliver = nullptr;
};

constexpr std::size_t kMostMessages = 1000;

Queue& queue() {
  static Queue& waiting = *new Queue;
  return waiting;
}

/// Called by the main thread of Python, with the GIL.
int deliver_pending(void* /*unused*/) {
  PyObject* const deliver = queue().deliver;
  if (deliver == nullptr) return 0;
  PyObject* const result = PyObject_CallNoArgs(deliver);
  if (result == nullptr) {
    PyErr_WriteUnraisable(deliver);
  } else {
    Py_DECREF(result);
  }
  return 0;
}

}  // namespace

void log_message(std::string_view message) {
  Queue& waiting = queue();
  const std::lock_guard lock(*waiting.mutex);
  if (!waiting.is_installed || waiting.messages.size() >= kMostMessages) return;
  waiting.messages.emplace_back(message);
  if (!std::exchange(waiting.is_announced, true)) {
    // Fails where 32 calls wait already: the messages are taken with the next one.
    if (Py_AddPendingCall(&deliver_pending, nullptr) != 0) waiting.is_announced = false;
  }
}

void install_log(py::function deliver) {
  queue().deliver = deliver.release().ptr();
  queue().is_installed = true;
  set_log([](std::string_view message) { log_message(message); });
}

void remove_log() {
  {
    // Who logs holds the log's own lock, and never wants the GIL.
    const py::gil_scoped_release release;
    set_log(nullptr);
    const std::lock_guard lock(*queue().mutex);
    queue().is_installed = false;
  }
  Py_CLEAR(queue().deliver);
}

py::list take_messages() {
  std::vector<std::string> taken;
  {
    const std::lock_guard lock(*queue().mutex);
    taken.swap(queue().messages);
    queue().is_announced = false;
  }
  py::list messages;
  for (const std::string& message : taken) {
    messages.append(py::reinterpret_steal<py::object>(PyUnicode_DecodeUTF8(
        message.data(), static_cast<Py_ssize_t>(message.size()), "backslashreplace")));
  }
  return messages;
}

void reset_log_after_fork() {
  queue().mutex = new std::mutex;  // NOLINT(cppcoreguidelines-owning-memory): never freed
  queue().is_announced = false;
}

}  // namespace wattle::python
