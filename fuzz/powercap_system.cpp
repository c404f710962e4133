// What tells why there are no zones: the first line is a path or a module's name, the rest the
// text of /proc/self/mountinfo or /proc/modules.
#include <string_view>

#include "base/text/split.hpp"
#include "check.hpp"
#include "sensors/powercap/diagnosis.hpp"

FUZZ_TARGET(powercap_system)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  std::string_view text = fuzz::text_of(data, size);
  const std::string_view name = take_line(text);
  if (powercap::is_mount_point(text, name)) {
    fuzz::require(text.find(name) != std::string_view::npos, "a mount point is in the text");
  }
  if (powercap::is_loaded(text, name)) {
    fuzz::require(text.find(name) != std::string_view::npos, "a module is in the text");
  }
  return 0;
}
