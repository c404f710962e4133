// What Wattle throws. Exceptions are for what the caller got wrong or cannot have; what a
// measurement could not know is data (flags, refusals), never an exception.
#pragma once

#include <stdexcept>
#include <string>

#include "wattle/export.hpp"

namespace wattle {

/// Base of everything that Wattle throws. `what()` is one sentence: the operation, the object,
/// and what to do.
class WATTLE_EXPORT Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  ~Error() override;
};

/// An argument outside its documented range.
class WATTLE_EXPORT InvalidArgument : public Error {
 public:
  using Error::Error;
  ~InvalidArgument() override;
};

/// The file or device exists, but this user may not read it.
class WATTLE_EXPORT PermissionDenied : public Error {
 public:
  /// `path`: what could not be read. `remedy`: what would make it readable.
  PermissionDenied(const std::string& path, const std::string& remedy);
  ~PermissionDenied() override;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& remedy() const noexcept { return remedy_; }

 private:
  std::string path_;
  std::string remedy_;
};

/// A file could not be opened or written to the end (disk full, directory missing ...).
class WATTLE_EXPORT WriteError : public Error {
 public:
  /// `error_number`: the `errno` of the call that failed.
  WriteError(const std::string& path, int error_number);
  ~WriteError() override;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] int error_number() const noexcept { return error_number_; }

 private:
  std::string path_;
  int error_number_;
};

}  // namespace wattle
