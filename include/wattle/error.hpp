// What Wattle throws, and where it sends what it cannot return. Exceptions are for what the caller
// got wrong or cannot have; what a measurement could not know is data (flags, refusals), never an
// exception.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

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

/// A domain that this machine does not have, or that a trace has no column for.
class WATTLE_EXPORT NoSuchDomain : public Error {
 public:
  /// `message` is the whole sentence; `domain_name` the domain that was asked for.
  NoSuchDomain(const std::string& message, std::string domain_name);
  ~NoSuchDomain() override;
  [[nodiscard]] const std::string& domain_name() const noexcept { return domain_name_; }

 private:
  std::string domain_name_;
};

/// A device that this machine does not have, or that cannot be read.
class WATTLE_EXPORT NoSuchDevice : public Error {
 public:
  using Error::Error;
  ~NoSuchDevice() override;
};

/// A trace has no sample of that number or tag.
class WATTLE_EXPORT NoSuchSample : public Error {
 public:
  using Error::Error;
  ~NoSuchSample() override;
};

/// The device is there, but cannot do what was asked for.
class WATTLE_EXPORT CapabilityError : public Error {
 public:
  using Error::Error;
  ~CapabilityError() override;
};

/// Something is to be recorded or ended that was not begun.
class WATTLE_EXPORT NotStarted : public Error {
 public:
  using Error::Error;
  ~NotStarted() override;
};

/// Something is started that has started already, and cannot be started twice.
class WATTLE_EXPORT InvalidState : public Error {
 public:
  using Error::Error;
  ~InvalidState() override;
};

/// Something is asked for that is there only after the end.
class WATTLE_EXPORT NotStopped : public Error {
 public:
  using Error::Error;
  ~NotStopped() override;
};

/// Samples that were measured over different domains cannot share a table.
class WATTLE_EXPORT InconsistentSamples : public Error {
 public:
  using Error::Error;
  ~InconsistentSamples() override;
};

/// A handler was asked for what it holds, and holds no sample.
class WATTLE_EXPORT NoSampleProcessed : public Error {
 public:
  using Error::Error;
  ~NoSampleProcessed() override;
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

/// A file that is to be written to, or read, holds something else. It was left as it is.
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

/// Takes one sentence, without a line end: what Wattle has to say and cannot return. Called by any
/// thread, one at a time. It must not throw, nor call `set_log`.
using Log = std::function<void(std::string_view message)>;

/// From now on `log` is called; nothing (the default) for silence. The library itself never
/// prints. Threads: any; on return the log before is called no more.
WATTLE_EXPORT void set_log(Log log);

}  // namespace wattle
