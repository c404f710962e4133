// The beginning of a CSV file that is to be appended to.
#include <algorithm>
#include <string>

#include "check.hpp"
#include "energy/handlers/csv_handler.hpp"

FUZZ_TARGET(csv_header)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  const std::string_view text = fuzz::text_of(data, size);
  const std::string_view first_line = text.substr(0, text.find('\n'));

  const std::string header = csv_header({"package_0"});
  fuzz::require(begins_with_header(text, header) == (first_line == header),
                "a file is ours if its first line is our header");

  // Whatever a domain is called: its header is recognized, and has quotes in pairs.
  const std::string own = csv_header({std::string(text), "d2"});
  fuzz::require(begins_with_header(own + "\n1;a;2;3;4\n", own), "our own header is recognized");
  fuzz::require(std::ranges::count(own, '"') % 2 == 0, "quotes come in pairs");
  return 0;
}
