// Files of the daemon's history on disk.
#include <cmath>

#include "check.hpp"
#include "history/past_history.hpp"

FUZZ_TARGET(history_chunk)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  using namespace wattle::daemon;
  const std::string_view bytes = fuzz::text_of(data, size);
  ChunkReader reader(bytes);
  std::size_t parts = 0;
  while (const auto part = reader.next()) {
    ++parts;
    const auto* const stored = std::get_if<StoredChannel>(&*part);
    if (stored == nullptr) continue;
    fuzz::require(std::isfinite(stored->channel.scale()) && stored->channel.scale() > 0.0,
                  "ticks have an energy");
    fuzz::require(fuzz::is_clean(stored->channel.domain.name()), "names are clean");
  }
  fuzz::require(reader.damaged_bytes() + reader.torn_bytes() <= size, "no byte is lost twice");
  fuzz::require(reader.header() || parts == 0, "parts come after a header");
  PastHistory past({.begin = {}, .end = TimePoint::max()});
  const ChunkReport report = past.add(bytes);
  fuzz::require(report.values == 0 || past.first(), "values have times");
  return 0;
}
