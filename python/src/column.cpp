#include "column.hpp"

#include <pybind11/pybind11.h>

#include <cstring>
#include <utility>

#include "bindings.hpp"
#include "gate.hpp"

namespace wattle::python {

Column::Column(std::vector<double> numbers) : first_(nullptr), size_(0), stride_(sizeof(double)) {
  const auto kept = std::make_shared<const std::vector<double>>(std::move(numbers));
  first_ = kept->data();
  size_ = kept->size();
  owner_ = kept;
}

double Column::operator[](std::size_t index) const noexcept {
  double number = 0;
  std::memcpy(&number, static_cast<const std::byte*>(static_cast<const void*>(first_)) + index * stride_,
              sizeof number);
  return number;
}

py::buffer_info Column::buffer() const {
  static constexpr double kNone = 0;  // no column without an address
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): the buffer is read-only
  auto* const data = const_cast<double*>(size_ == 0 ? &kNone : first_);
  return {data,
          sizeof(double),
          py::format_descriptor<double>::format(),
          1,
          {static_cast<py::ssize_t>(size_)},
          {static_cast<py::ssize_t>(stride_)},
          true};
}

Column unix_column(const std::vector<TimePoint>& times) {
  std::vector<double> unix_s(times.size());
  to_unix(times, unix_s);
  return Column(std::move(unix_s));
}

void bind_column(py::module_& module) {
  py::class_<Column>(module, "Column", py::buffer_protocol())
      .def_buffer([](const Column& column) { return column.buffer(); })
      .def("__len__", &Column::size)
      .def("__getitem__",
           [](const Column& column, py::ssize_t index) {
             const auto size = static_cast<py::ssize_t>(column.size());
             if (index < 0) index += size;
             if (index < 0 || index >= size) throw py::index_error("the column has no such row");
             return column[static_cast<std::size_t>(index)];
           })
      .def("tolist", [](const Column& column) {
        py::list numbers(column.size());
        for (std::size_t i = 0; i < column.size(); ++i) numbers[i] = py::float_(column[i]);
        return numbers;
      });
}

}  // namespace wattle::python
