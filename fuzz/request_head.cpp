// The head of a request, as the daemon takes it from whoever connects.
#include "http/request_head.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "check.hpp"
#include "http/target.hpp"

FUZZ_TARGET(request_head)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  const std::string_view bytes = fuzz::text_of(data, size);
  const auto length = daemon::head_length(bytes);
  if (!length) return 0;
  fuzz::require(*length >= 2 && *length <= size, "a head lies within what was read");
  const auto parsed = daemon::parse_head(bytes.substr(0, *length));
  const auto* const head = std::get_if<daemon::RequestHead>(&parsed);
  if (head == nullptr) return 0;
  fuzz::require(*length <= daemon::kMostHeadBytes, "a head that is taken is not too large");
  fuzz::require(!head->method.empty() && !head->target.empty(), "it has a method and a target");
  fuzz::require(head->is_http_1_0 || head->host.has_value(), "it names the host");
  for (const auto* const text : {&head->method, &head->target}) {
    fuzz::require(text->find_first_of("\r\n") == std::string::npos, "no line of it is two");
  }
  (void)daemon::parse_target(head->target);
  return 0;
}
