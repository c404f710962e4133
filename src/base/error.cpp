#include "wattle/error.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/terminate.hpp"
#include "base/text/text.hpp"

namespace wattle {
namespace {

/// Why a file cannot be written. The system's messages for these errors are about devices. Here a
/// database returns EBUSY, a lock of a file EWOULDBLOCK, a FIFO or a socket ENXIO.
std::string reason_of(int error_number) {
  if (error_number == EBUSY || error_number == EWOULDBLOCK)
    return "another process keeps it locked";
  if (error_number == ENXIO) return "it is a pipe or a socket that nobody reads from";
  std::string reason = std::generic_category().message(error_number);
  if (error_number == EFBIG) reason += ", by the limit of the user or the disk; see ulimit -f";
  if (error_number == EIO) reason += " of the disk; see dmesg";
  return reason;
}

}  // namespace

// The destructors are defined here so that each type's vtable stands in one place: a `catch` in
// another shared object then recognizes it.
Error::Error(const std::string& what) : std::runtime_error(what) { let_one_thread_terminate(); }
Error::Error(const char* what) : std::runtime_error(what) { let_one_thread_terminate(); }
Error::~Error() = default;
InvalidArgument::~InvalidArgument() = default;
PermissionDenied::~PermissionDenied() = default;
NoSuchDomain::~NoSuchDomain() = default;
NoSuchDevice::~NoSuchDevice() = default;
NoSuchSample::~NoSuchSample() = default;
CapabilityError::~CapabilityError() = default;
NotStarted::~NotStarted() = default;
InvalidState::~InvalidState() = default;
NotStopped::~NotStopped() = default;
InconsistentSamples::~InconsistentSamples() = default;
NoSampleProcessed::~NoSampleProcessed() = default;
WriteError::~WriteError() = default;
FormatError::~FormatError() = default;

PermissionDenied::PermissionDenied(const std::string& path, const std::string& remedy)
    : Error("cannot read " + path + ": permission denied; " + remedy),
      path_(path),
      remedy_(remedy) {}

NoSuchDomain::NoSuchDomain(const std::string& message, std::string domain_name)
    : Error(message), domain_name_(std::move(domain_name)) {}

WriteError::WriteError(const std::string& path, int error_number)
    : Error("cannot write " + path + ": " + reason_of(error_number)),
      path_(path),
      error_number_(error_number) {}

FormatError::FormatError(const std::string& path, const std::string& found,
                         const std::string& expected)
    : Error("will not write to " + path + ": it starts with \"" + printable(found) +
            "\" instead of \"" + printable(expected) + "\"; name another file, or remove it"),
      path_(path) {}

FormatError::FormatError(std::string path, const std::string& message)
    : Error(message), path_(std::move(path)) {}

}  // namespace wattle
