// Bytes that a terminal sends.
#include <algorithm>

#include "check.hpp"
#include "top/keys.hpp"
#include "top/view.hpp"

FUZZ_TARGET(top_keys)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  using namespace wattle::app;
  const std::string_view text = fuzz::text_of(data, size);
  KeyDecoder whole;
  std::vector<Key> keys = whole.take(text);
  fuzz::require(keys.size() <= text.size(), "a key takes a byte at least");

  KeyDecoder apart;
  std::vector<Key> same;
  for (const char byte : text) std::ranges::move(apart.take({&byte, 1}), std::back_inserter(same));
  // Only a sequence that is too long is cut at another place.
  const bool is_short = text.size() <= KeyDecoder::kMostPending;
  fuzz::require(!is_short || keys == same, "bytes mean the same one by one");

  TopView view;
  view.units.push_back({.dimension = TopUnit::Dimension::kilowatt_hours});
  const TopHits hits{.line = 3, .columns = {{TopSort::cpu, 0, 10}}, .page = 5, .furthest = 7};
  for (const Key& key : keys) {
    fuzz::require(fuzz::is_clean(key.text), "a key is a character");
    (void)apply(key, view, hits);
    fuzz::require(view.offset <= hits.furthest, "scrolling stays in the table");
    fuzz::require(view.unit < view.units.size(), "a unit is one of those that are there");
    fuzz::require(fuzz::is_clean(view.filter), "a filter is clean");
  }
  return 0;
}
