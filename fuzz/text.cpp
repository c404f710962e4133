// Foreign text made safe to print.
#include "base/text/text.hpp"

#include <algorithm>
#include <string>

#include "check.hpp"

FUZZ_TARGET(text)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  const std::size_t max_bytes = size > 0 ? data[0] : 0;
  const std::string_view text = fuzz::text_of(data, size);

  const std::string shown = printable(text, max_bytes);
  fuzz::require(fuzz::is_clean(shown), "printable text is clean");
  fuzz::require(shown.size() <= 4 * std::min(text.size(), max_bytes) + 3,
                "printable text is short");
  fuzz::require(printable(shown, shown.size()) == shown, "printable text stays as it is");
  if (text.size() <= max_bytes && fuzz::is_clean(text)) {
    fuzz::require(shown == text, "clean text stays as it is");
  }
  fuzz::require(valid_utf8(valid_utf8(text)) == valid_utf8(text), "valid UTF-8 stays as it is");
  fuzz::require(fuzz::is_clean(shell_quoted(text)), "quoted text is clean");
  return 0;
}
