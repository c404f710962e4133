// The files of an HPE Cray node, in the form that the readers of others show
// (docs/sensors/cray.md): a value, its unit, and when it was taken.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "fakes/temp_folder.hpp"
#include "wattle/system.hpp"

namespace wattle::fakes {

/// Two accelerators and room for a third. Threads: one at a time.
class CrayNode {
 public:
  CrayNode();

  /// What a counter or a power shows from now on: at a new time.
  void set(std::string_view file, std::uint64_t value, std::string_view unit);
  void write(std::string_view file, std::string_view content) const;
  [[nodiscard]] std::filesystem::path path(std::string_view file) const;
  [[nodiscard]] System system() const;

 private:
  TempFolder folder_;
  std::uint64_t at_us_ = 1'700'000'000'000'000;
};

}  // namespace wattle::fakes
