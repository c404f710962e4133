#include "sampling/timeline/timeline_chunk.hpp"

namespace wattle {

namespace {

// Every reading but the first.
constexpr std::size_t kSteps = kChunkReadings - 1;
using Column = std::array<std::uint64_t, kSteps>;

/// How a value is predicted. Both lie on the straight line through the chunk's first and last
/// value; what matters is whether a deviation from it lasts.
enum class Predictor : std::uint8_t {
  slope,  ///< from the previous value: deviations add up, as the noise of a power does in an energy
  line,   ///< from the line: deviations pass, as the noise of a gauge does, and what a counter
          ///< lacks whose updates scatter around a regular grid
};

// Bits after the point of a slope, in raw units a quantum.
constexpr unsigned kSlopeBits = 16;

/// `slope` times `quanta`, where slope may be negative.
std::uint64_t rise_of(std::uint64_t slope, std::uint64_t quanta) noexcept {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(slope * quanta) >> kSlopeBits);
}

std::uint64_t slope_of(const TimelineChunk& chunk) noexcept {
  const auto rise = static_cast<std::int64_t>(chunk.raw[kSteps] - chunk.raw[0]);
  const auto elapsed = static_cast<std::int64_t>(chunk.first_seen[kSteps] - chunk.first_seen[0]);
  return elapsed <= 0 ? 0 : static_cast<std::uint64_t>((rise << kSlopeBits) / elapsed);
}

/// Distances from the previous value plus the slope.
void compute_slope_residuals(const TimelineChunk& chunk, std::uint64_t slope,
                             Column& residuals) noexcept {
  for (std::size_t i = 0; i < kSteps; ++i) {
    const std::uint64_t time = chunk.first_seen[i + 1] - chunk.first_seen[i];
    residuals[i] = zigzag(chunk.raw[i + 1] - chunk.raw[i] - rise_of(slope, time));
  }
}

/// Distances from the line, which is raised so that their mean is 0: by that much above the first
/// value, which is returned.
std::uint64_t compute_line_residuals(const TimelineChunk& chunk, std::uint64_t slope,
                                     Column& residuals) noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kSteps; ++i) {
    const std::uint64_t time = chunk.first_seen[i + 1] - chunk.first_seen[0];
    residuals[i] = chunk.raw[i + 1] - chunk.raw[0] - rise_of(slope, time);
    sum += residuals[i];
  }
  const auto mean = static_cast<std::uint64_t>(static_cast<std::int64_t>(sum) /
                                               static_cast<std::int64_t>(kSteps));
  for (std::uint64_t& residual : residuals) residual = zigzag(residual - mean);
  return mean;
}

template <std::size_t size>
void put_column(BitWriter& writer, const std::array<std::uint64_t, size>& column) noexcept {
  put_rice(writer, column, plan_rice(column));
}

/// The places of a decoded column of `kSteps`.
std::span<std::uint64_t> but_first(std::array<std::uint64_t, kChunkReadings>& column) noexcept {
  return std::span(column).subspan(1);
}

void put_wide(BitWriter& writer, Uint128 number) noexcept {
  put_number(writer, static_cast<std::uint64_t>(number >> 64U));
  put_number(writer, static_cast<std::uint64_t>(number));
}

Uint128 take_wide(BitReader& reader) noexcept {
  const Uint128 high = take_number(reader);
  return (high << 64U) | take_number(reader);
}

}  // namespace

std::size_t ChunkCodec::encode(const TimelineChunk& chunk, ChunkWords& words) const noexcept {
  BitWriter writer(words);
  if (kind_ == TimelineKind::gauge) {
    put_wide(writer, chunk.before.raw_quanta);
    put_number(writer, chunk.before.quanta);
    put_wide(writer, chunk.before.squared_changes);
  }
  put_times(writer, chunk);
  if (kind_ == TimelineKind::gauge) put_holds(writer, chunk);
  put_values(writer, chunk);
  return writer.finish();
}

void ChunkCodec::decode(const ChunkWords& words, std::uint64_t start,
                        TimelineChunk& chunk) const noexcept {
  BitReader reader(words.data());
  chunk.count = kChunkReadings;
  if (kind_ == TimelineKind::gauge) {
    chunk.before.raw_quanta = take_wide(reader);
    chunk.before.quanta = take_number(reader);
    chunk.before.squared_changes = take_wide(reader);
  }
  take_times(reader, start, chunk);
  if (kind_ == TimelineKind::gauge) take_holds(reader, chunk);
  take_values(reader, chunk);
}

// The grid lies so that the first reading is in the middle between two ticks: then a lane that
// wakes up a little later or earlier stays in its tick.

void ChunkCodec::put_times(BitWriter& writer, const TimelineChunk& chunk) const noexcept {
  const std::uint64_t period = period_.divisor();
  const std::uint64_t origin = chunk.first_seen[0] - period / 2;
  Column ticks;
  Column phases;
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < kSteps; ++i) {
    const std::uint64_t time = chunk.first_seen[i + 1] - origin;
    const std::uint64_t tick = period_.quotient(time);
    ticks[i] = tick - before;
    phases[i] = time - tick * period;
    before = tick;
  }
  put_column(writer, ticks);
  put_column(writer, phases);
}

// Columns are decoded in place, or into one that is filled later: less memory is touched.

void ChunkCodec::take_times(BitReader& reader, std::uint64_t start,
                            TimelineChunk& chunk) const noexcept {
  const std::uint64_t period = period_.divisor();
  auto& ticks = chunk.first_seen;
  auto& phases = chunk.raw;
  take_rice(reader, but_first(ticks));
  take_rice(reader, but_first(phases));
  chunk.first_seen[0] = start;
  std::uint64_t tick_begin = start - period / 2;
  for (std::size_t i = 1; i <= kSteps; ++i) {
    tick_begin += ticks[i] * period;
    chunk.first_seen[i] = tick_begin + phases[i];
  }
}

// A hold is coded as a number of ticks and the distance from a whole number of them.

void ChunkCodec::put_holds(BitWriter& writer, const TimelineChunk& chunk) const noexcept {
  const std::uint64_t period = period_.divisor();
  std::array<std::uint64_t, kChunkReadings> ticks;
  std::array<std::uint64_t, kChunkReadings> phases;
  for (std::size_t i = 0; i < kChunkReadings; ++i) {
    const std::uint64_t hold = chunk.last_confirmed[i] - chunk.first_seen[i] + period / 2;
    ticks[i] = period_.quotient(hold);
    phases[i] = hold - ticks[i] * period;
  }
  put_column(writer, ticks);
  put_column(writer, phases);
}

void ChunkCodec::take_holds(BitReader& reader, TimelineChunk& chunk) const noexcept {
  const std::uint64_t period = period_.divisor();
  auto& ticks = chunk.last_confirmed;
  auto& phases = chunk.raw;
  take_rice(reader, ticks);
  take_rice(reader, phases);
  for (std::size_t i = 0; i < kChunkReadings; ++i) {
    const std::uint64_t hold = ticks[i] * period + phases[i] - period / 2;
    chunk.last_confirmed[i] = chunk.first_seen[i] + hold;
  }
}

void ChunkCodec::put_values(BitWriter& writer, const TimelineChunk& chunk) noexcept {
  const std::uint64_t slope = slope_of(chunk);
  Column slope_residuals;
  Column line_residuals;
  compute_slope_residuals(chunk, slope, slope_residuals);
  const std::uint64_t raised = compute_line_residuals(chunk, slope, line_residuals);
  const RicePlan slope_plan = plan_rice(slope_residuals);
  const RicePlan line_plan = plan_rice(line_residuals);

  put_number(writer, chunk.raw[0]);
  put_number(writer, zigzag(slope));
  if (slope_plan.bits <= line_plan.bits) {
    writer.put(static_cast<std::uint64_t>(Predictor::slope), 1);
    put_rice(writer, slope_residuals, slope_plan);
  } else {
    writer.put(static_cast<std::uint64_t>(Predictor::line), 1);
    put_number(writer, zigzag(raised));
    put_rice(writer, line_residuals, line_plan);
  }
}

void ChunkCodec::take_values(BitReader& reader, TimelineChunk& chunk) noexcept {
  chunk.raw[0] = take_number(reader);
  const std::uint64_t slope = unzigzag(take_number(reader));
  const bool from_line = static_cast<Predictor>(reader.take(1)) == Predictor::line;
  const std::uint64_t line_begin = chunk.raw[0] + (from_line ? unzigzag(take_number(reader)) : 0);
  auto& residuals = chunk.raw;
  take_rice(reader, but_first(residuals));
  for (std::size_t i = 1; i <= kSteps; ++i) {
    const std::uint64_t time = chunk.first_seen[i] - chunk.first_seen[from_line ? 0 : i - 1];
    const std::uint64_t from = from_line ? line_begin : chunk.raw[i - 1];
    chunk.raw[i] = from + rise_of(slope, time) + unzigzag(residuals[i]);
  }
}

}  // namespace wattle
