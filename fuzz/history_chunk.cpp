// Files of the daemon's history on disk.
#include <algorithm>
#include <cmath>
#include <string>

#include "check.hpp"
#include "history/past_history.hpp"

namespace wattle::daemon {
namespace {

void read_chunk(std::string_view bytes) {
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
  fuzz::require(reader.damaged_bytes() + reader.torn_bytes() <= bytes.size(),
                "no byte is lost twice");
  fuzz::require(reader.header() || parts == 0, "parts come after a header");
  PastHistory past({.begin = {}, .end = TimePoint::max()});
  const ChunkReport report = past.add(bytes);
  fuzz::require(report.values == 0 || past.first(), "values have times");
}

/// A chunk whose frames have the pieces of `contents` in them, with the right checksums: each piece
/// after a byte with its length.
std::string chunk_of(std::string_view contents) {
  constexpr std::uint64_t kSession = 1;
  std::string chunk = encode(ChunkHeader{.session = kSession, .made = {}});
  while (!contents.empty()) {
    const auto length = static_cast<unsigned char>(contents.front());
    chunk += frame_with(std::string(contents.substr(1, length)), kSession);
    contents.remove_prefix(std::min<std::size_t>(contents.size(), 1U + length));
  }
  return chunk;
}

}  // namespace
}  // namespace wattle::daemon

FUZZ_TARGET(history_chunk)(const unsigned char* data, std::size_t size) {
  const std::string_view bytes = wattle::fuzz::text_of(data, size);
  wattle::daemon::read_chunk(bytes);
  wattle::daemon::read_chunk(wattle::daemon::chunk_of(bytes));
  return 0;
}
