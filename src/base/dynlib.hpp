// A shared library that is loaded while the program runs, and may be missing.
#pragma once

#include <memory>
#include <string>

namespace wattle {

/// Owns one loaded library, or none. Threads: a value type, movable.
class DynamicLibrary {
 public:
  /// `name`: a path where it contains a slash, else a file for which the dynamic linker searches.
  /// Where it cannot be loaded the result is empty and says why.
  [[nodiscard]] static DynamicLibrary open(const std::string& name);

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  /// The linker's own words on why there is no library; empty where there is one.
  [[nodiscard]] const std::string& error() const noexcept { return error_; }
  /// The file that was loaded; empty where nothing was.
  [[nodiscard]] std::string path() const;

  /// An address, as whatever type of function it is assigned to.
  struct Symbol {
    void* address;
    template <class Function>
    operator Function*() const noexcept {  // NOLINT(google-explicit-constructor)
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): what dlsym(3) is for
      return reinterpret_cast<Function*>(address);
    }
  };
  /// The function of that name, which must have the type that it is assigned to; null where there
  /// is none.
  [[nodiscard]] Symbol find(const char* symbol) noexcept {
    const Symbol found = address_of(symbol);
    lacks_any_ = lacks_any_ || found.address == nullptr;
    return found;
  }
  template <class Function>
  [[nodiscard]] Function* find(const char* symbol) const noexcept {
    return address_of(symbol);
  }
  /// False where there is no library, or where it lacked a function that `find` requested.
  [[nodiscard]] bool has_all() const noexcept { return handle_ != nullptr && !lacks_any_; }

 private:
  [[nodiscard]] Symbol address_of(const char* symbol) const noexcept;

  /// Nobody may be inside one of its functions, nor have one registered anywhere.
  struct Unload {
    void operator()(void* handle) const noexcept;
  };

  std::unique_ptr<void, Unload> handle_;
  std::string error_;
  bool lacks_any_ = false;
};

}  // namespace wattle
