#include "gate.hpp"

namespace wattle::python {

Gate& Gate::instance() noexcept {
  static Gate& gate = *new Gate;
  return gate;
}

void Gate::close() {
  const py::gil_scoped_release release;
  const std::unique_lock lock(*mutex_);
  closed_ = true;
}

void Gate::reopen_after_fork() {
  mutex_ = new std::shared_mutex;  // NOLINT(cppcoreguidelines-owning-memory): see the header
}

}  // namespace wattle::python
