#include "history/chunk_format.hpp"

#include <algorithm>
#include <cmath>

#include "history/crc32c.hpp"
#include "history/packed_bytes.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

constexpr std::string_view kFormat = "WATTLEH1";
constexpr std::string_view kFrameMark = "\xF7WF\x0A";
constexpr std::size_t kFrameHead = 12;

enum class FrameKind : std::uint8_t { header = 1, channel = 2, batch = 3 };

/// The year 2128: the clocks hold it, too.
constexpr std::int64_t kLatestStoredUs = 5'000'000'000'000'000;

std::int64_t us_of(TimePoint time) noexcept {
  return std::chrono::duration_cast<microseconds>(time.time_since_epoch()).count();
}

std::optional<TimePoint> time_of(std::int64_t us) noexcept {
  if (us < 0 || us > kLatestStoredUs) return std::nullopt;
  return TimePoint(microseconds(us));
}

/// `value` + `more`; absent where that is no time.
std::optional<TimePoint> later(TimePoint value, std::uint64_t more_us) noexcept {
  if (more_us > static_cast<std::uint64_t>(kLatestStoredUs)) return std::nullopt;
  return time_of(us_of(value) + static_cast<std::int64_t>(more_us));
}

std::uint32_t seed_of(std::uint64_t session) {
  PackedWriter writer;
  writer.fixed64(session);
  return crc32c(writer.bytes());
}

std::string frame_of(const std::string& content, std::uint32_t seed) {
  PackedWriter length;
  length.fixed32(static_cast<std::uint32_t>(content.size()));
  PackedWriter frame;
  frame.raw(kFrameMark);
  frame.raw(length.bytes());
  frame.fixed32(crc32c(content, crc32c(length.bytes(), seed)));
  frame.raw(content);
  return frame.bytes();
}

// --- the header ---

std::optional<ChunkHeader> parse_header(std::string_view content) {
  PackedReader reader(content);
  if (reader.byte() != static_cast<std::uint8_t>(FrameKind::header)) return std::nullopt;
  ChunkHeader header;
  header.session = reader.fixed64();
  header.first_batch = reader.number();
  header.machine = reader.fixed64();
  (void)reader.text();  // reserved
  const auto made = time_of(reader.difference());
  if (!reader.is_good() || !made) return std::nullopt;
  header.made = *made;
  return header;
}

// --- a channel ---

/// A length of time, 0 where it is absent.
void put_length(PackedWriter& writer, std::optional<nanoseconds> length) {
  writer.number(length ? static_cast<std::uint64_t>(length->count()) + 1 : 0);
}

/// The longest length of time in the description of a channel.
constexpr std::chrono::hours kLongestLength{1};

class ChannelParser {
 public:
  explicit ChannelParser(std::string_view content) noexcept : reader_(content) {}

  std::optional<StoredChannel> parse() {
    (void)reader_.byte();
    const std::uint64_t id = reader_.number();
    const std::string device(reader_.text());
    const std::optional<Domain> domain = parse_domain(reader_.text());
    const std::uint8_t metric = reader_.byte();
    const bool is_known = metric == static_cast<std::uint8_t>(Metric::energy) ||
                          is_power(static_cast<Metric>(metric));
    if (!domain || !is_known) return std::nullopt;
    StoredChannel stored{.id = id, .device = device, .channel = {.domain = *domain}};
    Channel& channel = stored.channel;
    channel.metric = static_cast<Metric>(metric);
    channel.source = std::string(reader_.text());
    parse_counter(channel.counter);
    parse_gauge(channel.gauge);
    channel.update = {.mean = length().value_or(nanoseconds(0)),
                      .spread = length().value_or(nanoseconds(0)),
                      .p99 = length().value_or(nanoseconds(0)),
                      .is_observed = reader_.byte() != 0};
    if (!good_ || !reader_.is_good() || channel.scale() <= 0.0) return std::nullopt;
    return stored;
  }

 private:
  static std::optional<Domain> parse_domain(std::string_view name) {
    try {
      return Domain::parse(name);
    } catch (const Error&) {
      return std::nullopt;
    }
  }
  /// From 0 on.
  double size() noexcept {
    const double value = reader_.real();
    good_ = good_ && std::isfinite(value) && value >= 0.0;
    return value;
  }
  std::optional<nanoseconds> length() noexcept {
    const std::uint64_t value = reader_.number();
    if (value == 0) return std::nullopt;
    const auto most = static_cast<std::uint64_t>(nanoseconds(kLongestLength).count());
    good_ = good_ && value - 1 <= most;
    return nanoseconds(static_cast<std::int64_t>(std::min(value - 1, most)));
  }
  void parse_counter(CounterTraits& counter) noexcept {
    counter.tick = Joules(size());
    counter.followed_ticks = reader_.number();
    counter.max_power = Watts(size());
    counter.least_power = Watts(size());
  }
  void parse_gauge(GaugeTraits& gauge) noexcept {
    gauge.scale = size();
    gauge.window = length();
    if (reader_.byte() != 0) gauge.coverage = size();
    gauge.time_constant = length();
    gauge.longest_lag = length();
    gauge.freezes = length().value_or(nanoseconds(0));
    good_ = good_ && gauge.coverage.value_or(0.5) <= 1.0;
  }

  PackedReader reader_;
  bool good_ = true;
};

// --- values ---

constexpr std::uint64_t kHasGap = 1;
constexpr std::uint64_t kWasConfirmed = 2;

/// Each after the one before it: times as microseconds since then, raw integers as differences.
void put_values(PackedWriter& writer, const std::vector<StoredValue>& values) {
  TimePoint before;
  std::uint64_t raw = 0;
  writer.number(values.size());
  for (const StoredValue& value : values) {
    const bool is_long = value.last > value.first;
    const auto since = static_cast<std::uint64_t>(us_of(value.first) - us_of(before));
    writer.number((since << 2U) | (value.has_gap ? kHasGap : 0) | (is_long ? kWasConfirmed : 0));
    if (is_long) writer.number(static_cast<std::uint64_t>(us_of(value.last) - us_of(value.first)));
    writer.difference(static_cast<std::int64_t>(value.raw - raw));
    before = value.first;
    raw = value.raw;
  }
}

bool take_values(PackedReader& reader, std::vector<StoredValue>& values) {
  const std::uint64_t count = reader.number();
  if (count > reader.left()) return false;
  TimePoint before;
  std::uint64_t raw = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t head = reader.number();
    const auto first = later(before, head >> 2U);
    const std::uint64_t length = (head & kWasConfirmed) != 0 ? reader.number() : 0;
    const auto last = first ? later(*first, length) : std::nullopt;
    raw += static_cast<std::uint64_t>(reader.difference());
    if (!reader.is_good() || !last || *last - *first > kLongestStoredValue) return false;
    values.push_back(
        {.first = *first, .last = *last, .raw = raw, .has_gap = (head & kHasGap) != 0});
    before = *first;
  }
  return true;
}

/// Readings are not further apart, nor closer.
constexpr nanoseconds kShortestPeriod = std::chrono::milliseconds(10);
constexpr nanoseconds kLongestStoredPeriod = std::chrono::minutes(1);

std::optional<ValueBatch> parse_batch(std::string_view content) {
  PackedReader reader(content);
  (void)reader.byte();
  ValueBatch batch{.number = reader.number(), .channels = {}};
  const std::uint64_t channels = reader.number();
  for (std::uint64_t i = 0; i < channels && reader.is_good(); ++i) {
    ChannelValues values{.channel = reader.number(), .values = {}};
    const std::uint64_t period = reader.number();
    const auto most = static_cast<std::uint64_t>(nanoseconds(kLongestStoredPeriod).count());
    if (period > most || !take_values(reader, values.values)) return std::nullopt;
    values.period = std::max(nanoseconds(static_cast<std::int64_t>(period)), kShortestPeriod);
    batch.channels.push_back(std::move(values));
  }
  if (!reader.is_good() || !reader.is_at_end()) return std::nullopt;
  return batch;
}

}  // namespace

TimePoint stored_time(double unix_s) noexcept {
  const double us = std::clamp(unix_s * 1e6, 0.0, static_cast<double>(kLatestStoredUs));
  return TimePoint(microseconds(std::llround(us)));
}

TimePoint stored_time(TimePoint steady) noexcept { return stored_time(to_unix(steady)); }

std::string frame_with(const std::string& content, std::uint64_t session) {
  return frame_of(content, seed_of(session));
}

std::string encode(const ChunkHeader& header) {
  PackedWriter writer;
  writer.byte(static_cast<std::uint8_t>(FrameKind::header));
  writer.fixed64(header.session);
  writer.number(header.first_batch);
  writer.fixed64(header.machine);
  writer.text({});
  writer.difference(us_of(header.made));
  return std::string(kFormat) + frame_of(writer.bytes(), 0);
}

std::string encode(const StoredChannel& stored, std::uint64_t session) {
  const Channel& channel = stored.channel;
  PackedWriter writer;
  writer.byte(static_cast<std::uint8_t>(FrameKind::channel));
  writer.number(stored.id);
  writer.text(stored.device);
  writer.text(channel.domain.name());
  writer.byte(static_cast<std::uint8_t>(channel.metric));
  writer.text(channel.source);
  writer.real(channel.counter.tick.si());
  writer.number(channel.counter.followed_ticks);
  writer.real(channel.counter.max_power.si());
  writer.real(channel.counter.least_power.si());
  writer.real(channel.gauge.scale);
  put_length(writer, channel.gauge.window);
  writer.byte(channel.gauge.coverage ? 1 : 0);
  if (channel.gauge.coverage) writer.real(*channel.gauge.coverage);
  put_length(writer, channel.gauge.time_constant);
  put_length(writer, channel.gauge.longest_lag);
  put_length(writer, channel.gauge.freezes);
  put_length(writer, channel.update.mean);
  put_length(writer, channel.update.spread);
  put_length(writer, channel.update.p99);
  writer.byte(channel.update.is_observed ? 1 : 0);
  return frame_with(writer.bytes(), session);
}

std::string encode(const ValueBatch& batch, std::uint64_t session) {
  PackedWriter writer;
  writer.byte(static_cast<std::uint8_t>(FrameKind::batch));
  writer.number(batch.number);
  writer.number(batch.channels.size());
  for (const ChannelValues& values : batch.channels) {
    writer.number(values.channel);
    writer.number(static_cast<std::uint64_t>(values.period.count()));
    put_values(writer, values.values);
  }
  return frame_with(writer.bytes(), session);
}

ChunkReader::ChunkReader(std::string_view bytes) : bytes_(bytes) {
  if (!bytes_.starts_with(kFormat)) return;
  place_ = kFormat.size();
  const auto content = take_frame();
  if (content) header_ = parse_header(*content);
  if (header_) seed_ = seed_of(header_->session);
}

std::optional<std::string_view> ChunkReader::frame_at(std::size_t place) noexcept {
  const std::string_view rest = bytes_.substr(place);
  if (rest.size() < kFrameHead || !rest.starts_with(kFrameMark)) return std::nullopt;
  PackedReader head(rest.substr(kFrameMark.size(), kFrameHead - kFrameMark.size()));
  const std::size_t length = head.fixed32();
  const std::uint32_t checksum = head.fixed32();
  if (length > kMostFrameBytes || length > rest.size() - kFrameHead) return std::nullopt;
  if (!may_check_more()) return std::nullopt;
  checked_ += length;
  const std::string_view content = rest.substr(kFrameHead, length);
  const std::uint32_t before = crc32c(rest.substr(kFrameMark.size(), 4), seed_);
  return crc32c(content, before) == checksum ? std::optional(content) : std::nullopt;
}

std::optional<std::string_view> ChunkReader::take_frame() noexcept {
  const auto content = frame_at(place_);
  if (content) place_ += kFrameHead + content->size();
  return content;
}

bool ChunkReader::find_frame() noexcept {
  std::size_t place = place_;
  while (place < bytes_.size() && may_check_more()) {
    place = bytes_.find(kFrameMark, place + 1);
    if (place == std::string_view::npos) return false;
    if (!frame_at(place)) continue;
    damaged_ += place - place_;
    place_ = place;
    return true;
  }
  return false;
}

std::optional<ChunkReader::Part> ChunkReader::next() {
  while (header_ && place_ < bytes_.size()) {
    const auto content = take_frame();
    if (!content && find_frame()) continue;
    if (!content) {
      (may_check_more() ? torn_ : damaged_) += bytes_.size() - place_;
      place_ = bytes_.size();
      break;
    }
    const auto kind = content->empty() ? FrameKind{} : static_cast<FrameKind>(content->front());
    if (kind == FrameKind::channel) {
      if (auto channel = ChannelParser(*content).parse()) return std::move(*channel);
    } else if (kind == FrameKind::batch) {
      if (auto batch = parse_batch(*content)) return std::move(*batch);
    }
    damaged_ += kFrameHead + content->size();
  }
  return std::nullopt;
}

}  // namespace wattle::daemon
