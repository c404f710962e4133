// The run log: values of Python as lines of JSON.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <utility>

#include "bindings.hpp"
#include "gate.hpp"
#include "wattle/error.hpp"
#include "wattle/run_log.hpp"

namespace wattle::python {
namespace {

constexpr int kDeepest = 100;

Value value_of(const py::handle& object, int depth);

Value::Object members_of(const py::handle& object, int depth = 0) {
  Value::Object members;
  for (const auto& [name, value] : py::reinterpret_borrow<py::dict>(object)) {
    members.emplace_back(bytes_of(py::str(name)), value_of(value, depth + 1));
  }
  return members;
}

/// An integer; one that 64 bits cannot hold as its digits.
Value integer_of(const py::handle& object) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  if (overflow != 0) return bytes_of(py::str(object));
  if (number == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return static_cast<std::int64_t>(number);
}

/// What JSON has no type for is its `str`, as `json.dumps(default=str)` has it. Numbers of numpy are
/// numbers.
Value value_of(const py::handle& object, int depth) {
  if (depth > kDeepest) throw InvalidArgument("cannot log a value of more than 100 levels");
  if (object.is_none()) return nullptr;
  if (PyBool_Check(object.ptr())) return object.ptr() == Py_True;
  if (PyLong_Check(object.ptr())) return integer_of(object);
  if (PyFloat_Check(object.ptr())) return PyFloat_AsDouble(object.ptr());
  if (PyUnicode_Check(object.ptr())) return bytes_of(object);
  if (PyDict_Check(object.ptr())) return members_of(object, depth);
  if (PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()) || PyAnySet_Check(object.ptr())) {
    Value::Array list;
    for (const py::handle& item : py::iter(object)) list.push_back(value_of(item, depth + 1));
    return list;
  }
  // Scalars of numpy: only these have both.
  if (py::hasattr(object, "item") && py::hasattr(object, "dtype") &&
      py::hasattr(object, "ndim") && py::object(object.attr("ndim")).equal(py::int_(0))) {
    const py::object item = object.attr("item")();
    if (!item.is(object)) return value_of(item, depth + 1);
  }
  return bytes_of(py::str(object));
}

Durability durability_of(const py::str& word) {
  const std::string name = bytes_of(word);
  if (name == "none") return Durability::none;
  if (name == "flush") return Durability::flush;
  if (name == "fsync") return Durability::fsync;
  throw InvalidArgument("there is no durability '" + name + "': none, flush or fsync");
}

/// A phase that Python's block ends; destroyed without the block, it is logged then.
struct Phase {
  std::unique_ptr<RunLog::Phase> phase;
};

}  // namespace

void bind_run_log(py::module_& module) {
  py::class_<Phase, Holder<Phase>>(module, "RunPhase")
      .def("add",
           [](Phase& p, const py::str& name, const py::object& value) {
             p.phase->add(bytes_of(name), value_of(value, 0));
           },
           py::arg("name"), py::arg("value"))
      .def("close", [](Phase& p) { unlocked([&] { p.phase->close(); }); })
      .def("__enter__", [](const py::object& phase) { return phase; })
      .def("__exit__", [](Phase& p, const py::args& /*error*/) { unlocked([&] { p.phase->close(); }); });

  py::class_<RunLog, Holder<RunLog>>(module, "RunLog")
      .def(py::init([](const py::object& path, const py::str& durability) {
             if (path.is_none()) return Holder<RunLog>(new RunLog());
             return Holder<RunLog>(unlocked([file = path_of(path), how = durability_of(durability)] {
               return new RunLog(file, how);
             }));
           }),
           py::arg("path") = py::none(), py::arg("durability") = "flush")
      .def("log_phase",
           [](RunLog& log, const py::str& name, double seconds, const py::kwargs& extra) {
             unlocked([&, words = bytes_of(name), more = members_of(extra)] {
               log.log_phase(words, Seconds(seconds), more);
             });
           },
           py::arg("name"), py::arg("seconds"))
      .def("log_event",
           [](RunLog& log, const py::str& event, const py::object& data) {
             Value::Object members;
             if (!data.is_none()) members = members_of(py::dict(data));
             unlocked([&, words = bytes_of(event)] { log.log_event(words, members); });
           },
           py::arg("event"), py::arg("data") = py::none())
      .def("phase",
           [](RunLog& log, const py::str& name, const py::kwargs& extra) {
             // Elided: a phase cannot be moved.
             return Holder<Phase>(
                 new Phase{std::unique_ptr<RunLog::Phase>(new RunLog::Phase(
                     log.phase(bytes_of(name), members_of(extra))))});
           },
           py::arg("name"))
      .def("write",
           [](const RunLog& log, const py::object& path) {
             unlocked([&, file = path_of(path)] { log.write(file); });
           },
           py::arg("path"))
      .def("flush", [](RunLog& log) { unlocked([&] { log.flush(); }); });
}

}  // namespace wattle::python
