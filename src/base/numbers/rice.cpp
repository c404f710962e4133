#include "base/numbers/rice.hpp"

#include <algorithm>
#include <bit>

namespace wattle {

namespace {

// In the place of `low_bits`: all numbers but the exceptions equal the base.
constexpr unsigned kConstant = 63;
// With this number of low bits the unary part is at most 3.
constexpr unsigned kMostLowBits = 62;
// The least unary part that makes an exception.
constexpr std::uint64_t kFar = 16;

// `low_bits`, and whether there are exceptions.
constexpr unsigned kLowBitsBits = 6;
constexpr unsigned kHeadBits = kLowBitsBits + 1;

constexpr unsigned kPlaceBits = 7;
static_assert(kMaxRiceColumn == std::size_t{1} << kPlaceBits);

unsigned width_of(std::uint64_t number) noexcept {
  return static_cast<unsigned>(std::bit_width(number));
}
// A width of 63 is written as 64, so that 6 bits can say them all.
constexpr unsigned kWidthBits = 6;
constexpr unsigned kFullWidth = 63;

unsigned number_width(std::uint64_t number) noexcept {
  const unsigned width = width_of(number);
  return width < kFullWidth ? width : 64;
}
unsigned number_bits(std::uint64_t number) noexcept { return kWidthBits + number_width(number); }

bool is_exception(std::uint64_t number, const RicePlan& plan) noexcept {
  if (plan.low_bits == kConstant) return number != plan.base;
  return (number - plan.base) >> plan.low_bits >= kFar;
}

/// Sets how many exceptions there are, and adds their bits.
void add_exceptions(std::span<const std::uint64_t> numbers, RicePlan& plan) noexcept {
  for (const std::uint64_t number : numbers) {
    if (!is_exception(number, plan)) continue;
    ++plan.exceptions;
    plan.bits += kPlaceBits + number_bits(number);
  }
  plan.bits += number_bits(plan.exceptions);
}

/// Equal to nearly all numbers, if nearly all are equal.
std::uint64_t usual(std::span<const std::uint64_t> numbers) noexcept {
  const std::uint64_t first = numbers.front();
  const std::uint64_t middle = numbers[numbers.size() / 2];
  return first == middle ? first : numbers.back();
}

RicePlan plan_constant(std::span<const std::uint64_t> numbers, std::uint64_t base) noexcept {
  RicePlan plan{.base = base, .low_bits = kConstant};
  plan.bits = number_bits(base) + kHeadBits;
  add_exceptions(numbers, plan);
  return plan;
}

struct Range {
  std::uint64_t least;
  std::uint64_t greatest;
  /// The mean distance from the least, roughly: at least half of it, not above it. Where they are
  /// too large to add up, 2^63.
  std::uint64_t mean;
};

Range range_of(std::span<const std::uint64_t> numbers) noexcept {
  Range range{.least = numbers[0], .greatest = numbers[0], .mean = std::uint64_t{1} << 63U};
  std::uint64_t sum = 0;  // its overflow is taken back by the subtraction
  for (const std::uint64_t number : numbers) {
    range.least = std::min(range.least, number);
    range.greatest = std::max(range.greatest, number);
    sum += number;
  }
  if (range.greatest - range.least <= ~std::uint64_t{0} / kMaxRiceColumn) {
    // No division: by the next power of two.
    range.mean = (sum - range.least * numbers.size()) >> width_of(numbers.size() - 1);
  }
  return range;
}

RicePlan plan_low_bits(std::span<const std::uint64_t> numbers, const Range& range,
                       unsigned low_bits) noexcept {
  RicePlan plan{.base = range.least, .low_bits = low_bits};
  plan.bits = number_bits(range.least) + kHeadBits + numbers.size() * (low_bits + 1);
  if ((range.greatest - range.least) >> low_bits < kFar) {  // the usual case, and a fast loop
    for (const std::uint64_t number : numbers) plan.bits += (number - range.least) >> low_bits;
    return plan;
  }
  for (const std::uint64_t number : numbers) {
    const std::uint64_t high = (number - range.least) >> low_bits;
    plan.bits += high < kFar ? high : 0;
  }
  add_exceptions(numbers, plan);
  return plan;
}

RicePlan plan_noise(std::span<const std::uint64_t> numbers, const Range& range) noexcept {
  // The best for numbers whose frequency falls off exponentially, as that of noise does.
  const unsigned low_bits = std::clamp(width_of(range.mean), 1U, kMostLowBits + 1) - 1;
  RicePlan plan = plan_low_bits(numbers, range, low_bits);
  // A few far numbers raise the mean: then fewer bits may do.
  const bool far_numbers =
      low_bits == kMostLowBits || (range.greatest - range.least) >> low_bits >= kFar / 2;
  while (far_numbers && plan.low_bits > 0) {
    const RicePlan fewer = plan_low_bits(numbers, range, plan.low_bits - 1);
    if (fewer.bits >= plan.bits) break;
    plan = fewer;
  }
  return plan;
}

void put_noise(BitWriter& writer, std::span<const std::uint64_t> numbers,
               const RicePlan& plan) noexcept {
  const std::uint64_t mask = low_mask(plan.low_bits);
  for (const std::uint64_t number : numbers) writer.put((number - plan.base) & mask, plan.low_bits);
  for (const std::uint64_t number : numbers) {
    const std::uint64_t high = (number - plan.base) >> plan.low_bits;
    const auto zeros = static_cast<unsigned>(high < kFar ? high : 0);
    writer.put(std::uint64_t{1} << zeros, zeros + 1);
  }
}

/// `peek`: how the low bits are read.
template <auto peek>
void take_noise(BitReader& reader, std::span<std::uint64_t> numbers, std::uint64_t base,
                unsigned low_bits) noexcept {
  std::size_t low = reader.position();
  reader.skip(numbers.size() * low_bits);
  reader.take_unary(numbers.size(), [&](std::size_t i, std::uint64_t high) {
    numbers[i] = base + ((high << low_bits) | (reader.*peek)(low, low_bits));
    low += low_bits;
  });
}

void put_exceptions(BitWriter& writer, std::span<const std::uint64_t> numbers,
                    const RicePlan& plan) noexcept {
  put_number(writer, plan.exceptions);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!is_exception(numbers[i], plan)) continue;
    writer.put(i, kPlaceBits);
    put_number(writer, numbers[i]);
  }
}

}  // namespace

RicePlan plan_rice(std::span<const std::uint64_t> numbers) noexcept {
  const Range range = range_of(numbers);
  if (range.least == range.greatest) {
    return {
        .base = range.least, .low_bits = kConstant, .bits = number_bits(range.least) + kHeadBits};
  }
  const RicePlan noise = plan_noise(numbers, range);
  const std::uint64_t base = usual(numbers);
  // An exception takes 13 bits at least.
  const auto exceptions =
      numbers.size() - static_cast<std::size_t>(std::ranges::count(numbers, base));
  if (exceptions * (kPlaceBits + kWidthBits) >= noise.bits) return noise;
  const RicePlan constant = plan_constant(numbers, base);
  return constant.bits < noise.bits ? constant : noise;
}

void put_rice(BitWriter& writer, std::span<const std::uint64_t> numbers,
              const RicePlan& plan) noexcept {
  put_number(writer, plan.base);
  writer.put(plan.low_bits, kLowBitsBits);
  if (plan.low_bits != kConstant) put_noise(writer, numbers, plan);
  writer.put(plan.exceptions > 0 ? 1 : 0, 1);
  if (plan.exceptions > 0) put_exceptions(writer, numbers, plan);
}

void take_rice(BitReader& reader, std::span<std::uint64_t> numbers) noexcept {
  const std::uint64_t base = take_number(reader);
  const auto low_bits = static_cast<unsigned>(reader.take(kLowBitsBits));
  if (low_bits == kConstant) {
    std::ranges::fill(numbers, base);
  } else {
    low_bits <= BitReader::kFew ? take_noise<&BitReader::peek_few>(reader, numbers, base, low_bits)
                                : take_noise<&BitReader::peek>(reader, numbers, base, low_bits);
  }
  if (reader.take(1) == 0) return;
  for (std::uint64_t exceptions = take_number(reader); exceptions > 0; --exceptions) {
    const std::size_t place = reader.take(kPlaceBits);
    numbers[place] = take_number(reader);
  }
}

void put_number(BitWriter& writer, std::uint64_t number) noexcept {
  const unsigned width = number_width(number);
  writer.put(std::min(width, kFullWidth), kWidthBits);
  writer.put(number, width);
}

std::uint64_t take_number(BitReader& reader) noexcept {
  const auto width = static_cast<unsigned>(reader.take(kWidthBits));
  return reader.take(width < kFullWidth ? width : 64);
}

}  // namespace wattle
