#include "watched_gpus.hpp"

namespace wattle::integration {

std::string eight_gpus(const std::string& fault) {
  std::string text;
  for (std::size_t gpu = 0; gpu < kWatchedGpus; ++gpu) {
    text += "gpu A\npower linear 0 100 1000 10100\ninstant window_ms 1 update_ms 10\n";
    if (gpu == kFaultyGpu) text += fault + '\n';
  }
  return text;
}

WatchedGpus::WatchedGpus(HttpClient client) : client_(std::move(client)) {
  client_.send("GET /gpu/stream_power HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(client_.read_head(), testing::HasSubstr("200 OK"));
}

bool WatchedGpus::take() {
  const std::string chunk = client_.next_chunk();
  const std::string stuck =
      ": gpu " + std::to_string(kFaultyGpu) + ": its driver does not answer\n";
  is_stuck = is_stuck || chunk.find(stuck) != std::string::npos;
  constexpr std::string_view kBegin = "data: ";
  for (std::size_t at = chunk.find(kBegin); at != std::string::npos;
       at = chunk.find(kBegin, at + 1)) {
    const std::size_t begin = at + kBegin.size();
    const Json event = parse_json(chunk.substr(begin, chunk.find('\n', at) - begin));
    times_ms.at(event["gpu_id"].get<std::size_t>())
        .push_back(event["timestamp_ms"].get<std::int64_t>());
  }
  return !chunk.empty();
}

void WatchedGpus::forget() {
  for (auto& times : times_ms) times.clear();
}

}  // namespace wattle::integration
