// Files of telemetry that waits to be sent: as they are, and as the body of one that is whole.
#include "otlp/otlp_spool.hpp"

#include <string>
#include <string_view>

#include "check.hpp"

namespace {

using namespace wattle;

void check_whole(const otlp::OtlpBatch& batch) {
  std::string file = otlp::spool_file_of(batch);
  const auto again = otlp::parse_spool_file(file);
  fuzz::require(again && again->body == batch.body && again->items == batch.items &&
                    again->signal == batch.signal,
                "a file has what was written");
  file.back() = static_cast<char>(file.back() ^ 1);
  fuzz::require(batch.body.empty() || !otlp::parse_spool_file(file), "a flipped bit is seen");
}

}  // namespace

FUZZ_TARGET(otlp_spool)(const unsigned char* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  check_whole({.signal = otlp::OtlpSignal::traces, .items = size, .body = std::string(text)});
  if (const auto batch = otlp::parse_spool_file(text)) check_whole(*batch);
  return 0;
}
