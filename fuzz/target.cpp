// The target of a request, its query, and lists of ids.
#include "target.hpp"

#include <algorithm>
#include <string>
#include <variant>

#include "check.hpp"

namespace {

using namespace wattle;
using daemon::QueryFault;
using daemon::UrlQuery;
using Ids = std::vector<std::uint64_t>;

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

void check_fault(const QueryFault& fault) {
  fuzz::require(fuzz::is_clean(fault.message), "a message is safe to print");
  fuzz::require(fault.message.size() < 512, "a message is short");
}

void check_ids(std::string_view list, daemon::IdKind kind) {
  const auto result = daemon::parse_ids(list, kind);
  if (const auto* const fault = std::get_if<QueryFault>(&result)) {
    check_fault(*fault);
    return;
  }
  const auto& ids = std::get<Ids>(result);
  fuzz::require(!ids.empty(), "a list that is taken holds an id");
  fuzz::require(std::ranges::adjacent_find(ids, std::greater_equal{}) == ids.end(),
                "ids ascend, each once");
}

void check_query(std::string_view text) {
  const auto result = UrlQuery::parse(text, {"gpu_ids", "cpu", "dram"});
  if (const auto* const fault = std::get_if<QueryFault>(&result)) {
    check_fault(*fault);
    return;
  }
  const auto& query = std::get<UrlQuery>(result);
  if (const auto list = query.find("gpu_ids")) check_ids(*list, daemon::IdKind::gpu);
  const auto cpu = daemon::required_bool(query, "cpu");
  if (const auto* const fault = std::get_if<QueryFault>(&cpu)) check_fault(*fault);
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
