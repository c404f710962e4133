// A shared library that is looked for while the program runs, and may be missing.
#pragma once

#include <string>
#include <utility>

namespace wattle {

/// Owns one loaded library, or none. Threads: a value type, movable; `find` from any.
class DynamicLibrary {
 public:
  DynamicLibrary() noexcept = default;
  DynamicLibrary(DynamicLibrary&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), error_(std::move(other.error_)) {}
  DynamicLibrary& operator=(DynamicLibrary&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(error_, other.error_);
    return *this;
  }
  DynamicLibrary(const DynamicLibrary&) = delete;
  DynamicLibrary& operator=(const DynamicLibrary&) = delete;
  /// Unloads it: nobody may be inside one of its functions, nor have one registered anywhere.
  ~DynamicLibrary();

  /// `name`: a path where it contains a slash, else a file for which the dynamic linker searches.
  /// Where it cannot be loaded the result is empty and says why.
  [[nodiscard]] static DynamicLibrary open(const std::string& name);

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  /// The linker's own words on why there is no library; empty where there is one.
  [[nodiscard]] const std::string& error() const noexcept { return error_; }
  /// The file that was loaded; empty where nothing was.
  [[nodiscard]] std::string path() const;

  /// The function of that name, which must have the type `Function`; null where there is none.
  template <class Function>
  [[nodiscard]] Function* find(const char* symbol) const noexcept {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): what dlsym(3) is for
    return reinterpret_cast<Function*>(find_address(symbol));
  }

 private:
  [[nodiscard]] void* find_address(const char* symbol) const noexcept;

  void* handle_ = nullptr;
  std::string error_;
};

}  // namespace wattle
