// The power of many machines: a stream, and readers that iterate, wait for a descriptor, or call.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "gate.hpp"
#include "log.hpp"
#include "stream_bindings.hpp"
#include "wattle/error.hpp"
#include "wattle/power_stream.hpp"

namespace wattle::python {
namespace {

/// Descriptors that become readable when something came. Threads: any.
class Bells {
 public:
  int add() {
    const int fd = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (fd < 0) throw Error("cannot wait for a stream: " + std::generic_category().message(errno));
    const std::lock_guard lock(mutex_);
    fds_.push_back(fd);
    return fd;
  }
  void remove(int fd) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase(fds_, fd);
    ::close(fd);
  }
  void ring() noexcept {
    const std::lock_guard lock(mutex_);
    for (const int fd : fds_) {
      const std::uint64_t one = 1;
      // Full only where it is readable already.
      if (::write(fd, &one, sizeof one) < 0) continue;
    }
  }

 private:
  std::mutex mutex_;
  std::vector<int> fds_;
};

/// A function of Python that the stream's thread calls. What it raises is logged once.
class Callback {
 public:
  explicit Callback(py::object function) : function_(std::move(function)) {}
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;
  ~Callback() {
    PyObject* const function = function_.release().ptr();
    Gate::instance().enter([function] { Py_DECREF(function); });
  }

  void call(const PowerUpdate& update) noexcept {
    Gate::instance().enter([&] {
      try {
        function_(update);
      } catch (py::error_already_set& error) {
        if (!std::exchange(is_reported_, true)) {
          log_message(std::string("on_update of a power stream: ") + error.what());
        }
      }
    });
  }

 private:
  py::object function_;
  bool is_reported_ = false;
};

struct Stream {
  std::shared_ptr<Bells> bells;
  std::unique_ptr<PowerStream> stream;
};

/// One who iterates.
struct Reader {
  Reader(std::shared_ptr<Bells> shared, PowerReader made)
      : bells(std::move(shared)), reader(std::move(made)) {}
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() {
    if (fd >= 0) bells->remove(fd);
  }

  std::shared_ptr<Bells> bells;
  std::mutex mutex;
  PowerReader reader;
  int fd = -1;
};

std::chrono::milliseconds milliseconds_of(double seconds, const char* what) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(nanoseconds_of(seconds, what));
}

Holder<Stream> make_stream(const std::vector<Server>& servers, double reconnect_delay_s,
                           std::optional<double> longest_reconnect_delay_s, double timeout_s,
                           bool start_partial, std::size_t queue_limit, const py::object& on_update,
                           double history_s) {
  PowerStreamOptions options{
      .reconnect_delay = milliseconds_of(reconnect_delay_s, "a reconnect delay"),
      .timeout = milliseconds_of(timeout_s, "a timeout"),
      .start_partial = start_partial,
      .queue_limit = queue_limit,
      .history = std::chrono::duration_cast<std::chrono::seconds>(
          nanoseconds_of(history_s, "a history"))};
  if (longest_reconnect_delay_s) {
    options.longest_reconnect_delay =
        milliseconds_of(*longest_reconnect_delay_s, "a reconnect delay");
  }
  auto bells = std::make_shared<Bells>();
  std::shared_ptr<Callback> callback;
  if (!on_update.is_none()) callback = std::make_shared<Callback>(on_update);
  options.on_update = [bells, callback](const PowerUpdate& update) {
    if (callback) callback->call(update);
    bells->ring();
  };
  auto stream = interruptible([servers, options = std::move(options)] {
    return std::make_unique<PowerStream>(servers, options);
  });
  return Holder<Stream>(new Stream{std::move(bells), std::move(stream)});
}

/// The view after the next step, waiting for `wait_s` at most: None if nothing came.
py::object step(Reader& reader, std::optional<double> wait_s) {
  const TimePoint until =
      wait_s ? TimePoint::clock::now() + nanoseconds_of(*wait_s, "a wait") : TimePoint::max();
  while (true) {
    constexpr auto kPiece = std::chrono::milliseconds(50);  // Ctrl-C ends the wait in between
    const TimePoint now = TimePoint::clock::now();
    bool has_ended = false;
    const PowerSnapshot* const view = unlocked([&] {
      const std::lock_guard lock(reader.mutex);
      const PowerSnapshot* const found = reader.reader.wait_until(std::min(until, now + kPiece));
      has_ended = reader.reader.has_ended();
      return found;
    });
    if (view != nullptr) return py::cast(*view);
    if (has_ended || now >= until) return py::none();
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
}

std::map<std::uint32_t, double> watts_of(const std::map<std::uint32_t, Watts>& powers) {
  std::map<std::uint32_t, double> numbers;
  for (const auto& [id, power] : powers) numbers.emplace(id, power.si());
  return numbers;
}

void bind_readings(py::module_& module) {
  py::class_<ConnectionState>(module, "ConnectionState")
      .def_property_readonly("status", [](const ConnectionState& s) { return text(to_string(s.status)); })
      .def_property_readonly("since", [](const ConnectionState& s) { return to_unix(s.since); })
      .def_property_readonly("reason", [](const ConnectionState& s) { return text(s.reason); });
  py::class_<CpuPowerReading>(module, "CpuPowerReading")
      .def_property_readonly("cpu_w", [](const CpuPowerReading& r) { return si(r.cpu); })
      .def_property_readonly("dram_w", [](const CpuPowerReading& r) { return si(r.dram); });
  py::class_<PowerReadings>(module, "PowerReadings")
      .def_readonly("timestamp", &PowerReadings::timestamp_s)
      .def_property_readonly("gpu_power_w",
                             [](const PowerReadings& r) { return watts_of(r.gpu_power); })
      .def_readonly("cpu_power", &PowerReadings::cpu_power)
      .def_readonly("gpu_time", &PowerReadings::gpu_time_s)
      .def_readonly("cpu_time", &PowerReadings::cpu_time_s)
      .def_readonly("gpu_domain", &PowerReadings::gpu_domain)
      .def_readonly("cpu_domain", &PowerReadings::cpu_domain)
      .def_readonly("gpu_reason", &PowerReadings::gpu_reason)
      .def_readonly("cpu_reason", &PowerReadings::cpu_reason)
      .def_readonly("dram_reason", &PowerReadings::dram_reason)
      .def_readonly("clock_offset_s", &PowerReadings::clock_offset_s)
      .def_readonly("clock_offset_uncertainty_s", &PowerReadings::clock_offset_uncertainty_s)
      .def_readonly("gpu", &PowerReadings::gpu)
      .def_readonly("cpu", &PowerReadings::cpu);
  py::class_<PowerUpdate>(module, "PowerUpdate")
      .def_readonly("server", &PowerUpdate::server)
      .def_readonly("device", &PowerUpdate::device)
      .def_readonly("is_gpu", &PowerUpdate::is_gpu)
      .def_readonly("is_gone", &PowerUpdate::is_gone)
      .def_readonly("ends_event", &PowerUpdate::ends_event)
      .def_readonly("timestamp", &PowerUpdate::timestamp_s)
      .def_property_readonly("power_w", [](const PowerUpdate& u) { return si(u.power); })
      .def_property_readonly("dram_w", [](const PowerUpdate& u) { return si(u.dram); });
  py::class_<ServerEnergy>(module, "ServerEnergy")
      .def_readonly("gpus", &ServerEnergy::gpus)
      .def_readonly("cpus", &ServerEnergy::cpus)
      .def_readonly("drams", &ServerEnergy::drams);
}

}  // namespace

void bind_power_stream(py::module_& module) {
  bind_readings(module);
  py::class_<Reader, Holder<Reader>>(module, "Reader")
      .def("step", &step, py::arg("wait_s") = py::none())
      .def_property_readonly("dropped", [](const Reader& r) { return r.reader.dropped(); })
      .def_property_readonly("has_ended", [](const Reader& r) { return r.reader.has_ended(); })
      .def("fileno",
           [](Reader& r) {
             if (r.fd < 0) r.fd = r.bells->add();
             return r.fd;
           })
      .def("clear", [](const Reader& r) {
        std::uint64_t count = 0;
        // Nothing to read: it was clear.
        return r.fd >= 0 && ::read(r.fd, &count, sizeof count) > 0;
      });
  py::class_<Stream, Holder<Stream>>(module, "PowerStreamBase")
      .def(py::init(&make_stream), py::arg("servers"), py::kw_only(),
           py::arg("reconnect_delay_s") = 1.0, py::arg("longest_reconnect_delay_s") = py::none(),
           py::arg("timeout_s") = 5.0, py::arg("start_partial") = false,
           py::arg("queue_limit") = std::size_t{65'536}, py::arg("on_update") = py::none(),
           py::arg("history_s") = 0.0)
      .def("stop",
           [](Stream& s) {
             unlocked([&] {
               s.stream->stop();
               s.bells->ring();
             });
           })
      .def_property_readonly("servers", [](const Stream& s) { return s.stream->servers(); })
      .def("snapshot",
           [](const Stream& s) { return unlocked([&] { return s.stream->snapshot(); }); })
      .def("energy",
           [](const Stream& s, double start, double end) {
             return unlocked([&] { return s.stream->energy(start, end); });
           },
           py::arg("start"), py::arg("end"))
      .def("reader",
           [](const Stream& s, bool latest_only) {
             return Holder<Reader>(
                 new Reader(s.bells, s.stream->reader({.latest_only = latest_only})));
           },
           py::arg("latest_only") = false);
}

}  // namespace wattle::python
