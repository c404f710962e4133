// The target of a request, its query, and lists of ids.
#include "http/target.hpp"

#include <algorithm>
#include <functional>
#include <string>

#include "check.hpp"

namespace {

using namespace wattle;

std::string encoded(std::string_view path) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '/') {
      text += c;
    } else {
      text += {'%', kDigits[byte / 16U], kDigits[byte % 16U]};
    }
  }
  return text;
}

/// What `parse` does not take, it refuses in good words.
void check(const auto& parse) {
  try {
    parse();
  } catch (const daemon::QueryFault& fault) {
    fuzz::require(fuzz::is_clean(fault.what()), "a message is safe to print");
    fuzz::require(std::string_view(fault.what()).size() < 512, "a message is short");
  }
}

void check_ids(std::string_view list, daemon::IdKind kind) {
  check([&] {
    const auto ids = daemon::parse_ids(list, kind);
    fuzz::require(!ids.empty(), "a list that is taken holds an id");
    fuzz::require(std::ranges::adjacent_find(ids, std::greater_equal{}) == ids.end(),
                  "ids ascend, each once");
  });
}

void check_query(std::string_view text) {
  check([&] {
    const auto query = daemon::UrlQuery::parse(text, {"gpu_ids", "cpu", "dram"});
    if (const auto list = query.find("gpu_ids")) check_ids(*list, daemon::IdKind::gpu);
    check([&] { (void)query.boolean("cpu"); });
    check([&] { (void)query.number("dram"); });
  });
}

}  // namespace

FUZZ_TARGET(target)(const unsigned char* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  check_query(text);
  check_ids(text, daemon::IdKind::cpu);
  const auto target = daemon::parse_target(text);
  if (!target) return 0;
  fuzz::require(target->path.starts_with('/'), "a path begins with a slash");
  fuzz::require(std::ranges::none_of(target->path, [](char c) { return c >= 0 && c < ' '; }),
                "a path has no control characters");
  const auto again = daemon::parse_target(encoded(target->path));
  fuzz::require(again && again->path == target->path, "a path is the same when it is encoded");
  check_query(target->query);
  return 0;
}
