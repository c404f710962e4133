// A folder that is gone when the test is.
#pragma once

#include <filesystem>
#include <string_view>

#include "wattle/system.hpp"

namespace wattle::fakes {

class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// Makes a file, and the folders above it.
  void write(const std::filesystem::path& relative, std::string_view content) const;
  /// A machine whose files are in `sys` and `proc` here, without a daemon.
  [[nodiscard]] System system() const;

 private:
  std::filesystem::path path_;
};

}  // namespace wattle::fakes
