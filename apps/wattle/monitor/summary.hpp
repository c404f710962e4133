// `wattle summary`.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace wattle::app {

struct SummaryOptions {
  std::string path;  ///< a folder, or one file; "-" is stdin
  std::optional<double> allocator_peak_mb{};
  std::optional<std::size_t> gpus_in_file{};
  bool json = false;
};

int execute(const SummaryOptions& options);

}  // namespace wattle::app
