#include "history/history_query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/text/text.hpp"
#include "bench/bench_plan.hpp"
#include "history/history_options.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

constexpr std::array<std::string_view, 5> kWords = {
    "tag:", "command:", "host:", "since:", "until:"};

void add_tag(HistoryFilter& filter, const std::string& tag) {
  const std::size_t equals = tag.find('=');
  filter.tags.insert_or_assign(tag.substr(0, equals),
                               equals == std::string::npos ? "" : tag.substr(equals + 1));
}

/// Adds `word` with its value; a filter has one command, one host, one time of each kind.
void add_part(HistoryFilter& filter, std::string_view word, const std::string& value,
              double now_unix_s) {
  const auto set = [&](auto& member, const bool is_set, auto content) {
    if (is_set) throw InvalidArgument(fmt::format("a query takes '{}' once", word));
    member = std::move(content);
  };
  if (word == "tag:") return add_tag(filter, value);
  if (word == "command:") return set(filter.command, !filter.command.empty(), value);
  if (word == "host:") return set(filter.host, !filter.host.empty(), value);
  auto& time = word == "since:" ? filter.since_unix_s : filter.until_unix_s;
  set(time, time.has_value(), parse_time(value, word, now_unix_s));
}

}  // namespace

bool is_history_query(std::string_view word) noexcept {
  return std::ranges::any_of(kWords,
                             [&](std::string_view start) { return word.starts_with(start); });
}

HistoryFilter parse_history_query(std::string_view query, double now_unix_s) {
  HistoryFilter filter;
  for (const std::string& part : parameter_values(query)) {
    const auto* const word = std::ranges::find_if(
        kWords, [&](std::string_view start) { return part.starts_with(start); });
    const std::string_view found = word == kWords.end() ? kWords.front() : *word;
    const std::string value = word == kWords.end() ? part : part.substr(found.size());
    if (value.empty()) {
      throw InvalidArgument(
          fmt::format("the query '{}' has nothing after '{}'", printable(query), found));
    }
    add_part(filter, found, value, now_unix_s);
  }
  return filter;
}

}  // namespace wattle::app
