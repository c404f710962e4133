#include "wattle/error.hpp"

#include <system_error>

namespace wattle {

// The destructors are defined here so that each type's vtable stands in one place: a `catch` in
// another shared object then recognizes it.
Error::~Error() = default;
InvalidArgument::~InvalidArgument() = default;
PermissionDenied::~PermissionDenied() = default;
WriteError::~WriteError() = default;

PermissionDenied::PermissionDenied(const std::string& path, const std::string& remedy)
    : Error("cannot read " + path + ": permission denied; " + remedy),
      path_(path),
      remedy_(remedy) {}

WriteError::WriteError(const std::string& path, int error_number)
    : Error("cannot write " + path + ": " + std::generic_category().message(error_number)),
      path_(path),
      error_number_(error_number) {}

}  // namespace wattle
