#include "base/dynlib.hpp"

#include <dlfcn.h>
#include <link.h>

namespace wattle {

void DynamicLibrary::Unload::operator()(void* handle) const noexcept { ::dlclose(handle); }

DynamicLibrary DynamicLibrary::open(const std::string& name) {
  DynamicLibrary library;
  // All symbols at once: a library that lacks one of its own fails here, not in a call.
  library.handle_.reset(::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (library.handle_ == nullptr) {
    const char* const error =
        ::dlerror();  // NOLINT(concurrency-mt-unsafe): one per thread in glibc
    library.error_ = error != nullptr ? error : "it cannot be loaded";
  }
  return library;
}

std::string DynamicLibrary::path() const {
  const link_map* map = nullptr;
  if (handle_ == nullptr ||
      ::dlinfo(handle_.get(), RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0) {
    return {};
  }
  return map->l_name;
}

DynamicLibrary::Symbol DynamicLibrary::address_of(const char* symbol) const noexcept {
  return {handle_ != nullptr ? ::dlsym(handle_.get(), symbol) : nullptr};
}

}  // namespace wattle
