// A folder that is gone when the test is.
#pragma once

#include <filesystem>
#include <string_view>

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

 private:
  std::filesystem::path path_;
};

}  // namespace wattle::fakes
