// A column of numbers that Python reads in place.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "wattle/unix_times.hpp"

namespace wattle::python {

/// Numbers that lie at equal distances in something that lives as long as the column. Read-only.
/// Threads: any.
class Column {
 public:
  /// `owner` keeps `first` and what follows.
  Column(std::shared_ptr<const void> owner, const double* first, std::size_t size,
         std::size_t stride = sizeof(double)) noexcept
      : owner_(std::move(owner)), first_(first), size_(size), stride_(stride) {}
  explicit Column(std::vector<double> numbers);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] double operator[](std::size_t index) const noexcept;
  [[nodiscard]] pybind11::buffer_info buffer() const;

 private:
  std::shared_ptr<const void> owner_;
  const double* first_;
  std::size_t size_;
  std::size_t stride_;  ///< in bytes
};

/// Unix seconds of many times, converted together.
[[nodiscard]] Column unix_column(const std::vector<TimePoint>& times);

void bind_column(pybind11::module_& module);

}  // namespace wattle::python
