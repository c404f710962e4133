// Options that several sub-commands have.
#pragma once

#include <string>

#include "wattle/system.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
class Option;
}  // namespace CLI

namespace wattle::app {

/// The options for the folders and the library to read, as they are written.
struct RawRoots {
  System system = System::from_environment();
  std::string sysfs;  ///< empty: that of `system`, as the next two
  std::string procfs;
  std::string nvml_library;
};

/// Adds --sysfs, --procfs and --nvml-library. `raw` outlives the parsing.
void add_roots(CLI::App& command, RawRoots& raw);
/// The system to read. Throws `InvalidArgument` if an option is given to a program that has
/// privileges of its own: see `System`.
[[nodiscard]] System system_of(const RawRoots& raw);

/// Adds --estimate. `estimate` outlives the parsing.
CLI::Option* add_estimate(CLI::App& command, bool& estimate);

/// The help of --gpus.
inline constexpr const char* kGpusHelp =
    "GPUs: all, none, visible (to CUDA and HIP programs), or comma-separated numbers, UUIDs, PCI "
    "addresses";

}  // namespace wattle::app
