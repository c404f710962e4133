// The exceptions of Wattle, and its log. Exceptions are for wrong arguments and for what is not
// available; what a measurement could not find out is data (flags, refusals), never an exception.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "wattle/export.hpp"

namespace wattle {

/// Base of everything that Wattle throws. `what()` is one sentence: the operation, the object,
/// and what to do. Threads: a value type.
///
/// If several threads end the program by an uncaught exception, the first one prints its message
/// and the others wait. Without this, the C++ library prints "terminate called recursively".
class WATTLE_EXPORT Error : public std::runtime_error {
 public:
  explicit Error(const std::string& what);
  explicit Error(const char* what);
  Error(const Error&) noexcept = default;
  Error(Error&&) noexcept = default;
  Error& operator=(const Error&) noexcept = default;
  Error& operator=(Error&&) noexcept = default;
  ~Error() override;
};

/// An argument outside its documented range. Threads: a value type.
class WATTLE_EXPORT InvalidArgument : public Error {
 public:
  using Error::Error;
  ~InvalidArgument() override;
};

/// The file or device exists, but this user may not read it. Threads: a value type.
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

/// A domain that this machine does not have, or that a trace has no column for. Threads: a value
/// type.
class WATTLE_EXPORT NoSuchDomain : public Error {
 public:
  /// `message` is the whole sentence; `domain_name` the domain that was asked for.
  NoSuchDomain(const std::string& message, std::string domain_name);
  ~NoSuchDomain() override;
  [[nodiscard]] const std::string& domain_name() const noexcept { return domain_name_; }

 private:
  std::string domain_name_;
};

/// A device that this machine does not have, or that cannot be read. Threads: a value type.
class WATTLE_EXPORT NoSuchDevice : public Error {
 public:
  using Error::Error;
  ~NoSuchDevice() override;
};

/// A trace has no sample of that number or tag. Threads: a value type.
class WATTLE_EXPORT NoSuchSample : public Error {
 public:
  using Error::Error;
  ~NoSuchSample() override;
};

/// The device is there, but lacks the requested function. Threads: a value type.
class WATTLE_EXPORT CapabilityError : public Error {
 public:
  using Error::Error;
  ~CapabilityError() override;
};

/// Thrown by an operation that needs `start` first. Threads: a value type.
class WATTLE_EXPORT NotStarted : public Error {
 public:
  using Error::Error;
  ~NotStarted() override;
};

/// Thrown by `start` of an object that is started, or that can be started only once. Threads: a
/// value type.
class WATTLE_EXPORT InvalidState : public Error {
 public:
  using Error::Error;
  ~InvalidState() override;
};

/// Thrown by an operation that needs `stop` first. Threads: a value type.
class WATTLE_EXPORT NotStopped : public Error {
 public:
  using Error::Error;
  ~NotStopped() override;
};

/// Samples that were measured over different domains cannot share a table. Threads: a value type.
class WATTLE_EXPORT InconsistentSamples : public Error {
 public:
  using Error::Error;
  ~InconsistentSamples() override;
};

/// A handler that holds no sample cannot save or return one. Threads: a value type.
class WATTLE_EXPORT NoSampleProcessed : public Error {
 public:
  using Error::Error;
  ~NoSampleProcessed() override;
};

/// A file could not be opened or written to the end (disk full, directory missing ...). Threads: a
/// value type.
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

/// A file that is to be written to, or read, holds something else. It was left as it is. Threads: a
/// value type.
class WATTLE_EXPORT FormatError : public Error {
 public:
  /// `path`: the file. `found`, `expected`: what it starts with, and should start with.
  FormatError(const std::string& path, const std::string& found, const std::string& expected);
  /// `message`: the whole sentence.
  FormatError(std::string path, const std::string& message);
  ~FormatError() override;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

/// Takes one message: a sentence without a line end, which Wattle cannot return to a caller. Called
/// by any thread, one at a time. It must not throw, and must call no function of Wattle.
using Log = std::function<void(std::string_view message)>;

/// Calls `log` for each message from now on. An empty `log` makes the library silent. The default
/// log prints "wattle: MESSAGE" to stderr, each message once, at most 100 of them. Except for that,
/// `PrintHandler`, and an `EnergyScope` without a handler, the library prints nothing. Threads:
/// any; on return the log before is called no more.
WATTLE_EXPORT void set_log(Log log);

}  // namespace wattle
