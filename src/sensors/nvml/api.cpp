#include "sensors/nvml/api.hpp"

#include <fmt/format.h>

namespace wattle::nvml {

std::string describe(const Api& api, Return code) {
  const char* const text = api.error_string != nullptr ? api.error_string(code) : nullptr;
  return fmt::format("{} ({})", text != nullptr ? printable(text) : "NVML error",
                     static_cast<int>(code));
}

}  // namespace wattle::nvml
