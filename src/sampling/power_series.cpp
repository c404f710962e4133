#include "sampling/power_series.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace wattle {
namespace {

constexpr std::uint64_t kSeriesFormat = 1;

// Numbers in 7-bit groups, the lowest first; the high bit says that more follow.
void put_varint(std::string& bytes, std::uint64_t number) {
  constexpr unsigned kGroup = 7;
  for (; number >= 0x80U; number >>= kGroup) bytes += static_cast<char>(0x80U | (number & 0x7fU));
  bytes += static_cast<char>(number);
}

std::optional<std::uint64_t> take_varint(std::string_view& bytes) noexcept {
  std::uint64_t number = 0;
  constexpr unsigned kBits = 64;
  for (unsigned shift = 0; shift < kBits && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    number |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80U) return number;
  }
  return std::nullopt;
}

// Small numbers of either sign become small numbers.
std::uint64_t sign_folded(std::int64_t number) noexcept {
  return static_cast<std::uint64_t>(number) << 1U ^ static_cast<std::uint64_t>(number >> 63);
}
std::int64_t sign_unfolded(std::uint64_t number) noexcept {
  return static_cast<std::int64_t>(number >> 1U) ^ -static_cast<std::int64_t>(number & 1U);
}

std::int64_t milliwatts(double watts) noexcept { return std::llround(watts * 1e3); }

}  // namespace

PowerSeries::PowerSeries(Seconds interval, std::vector<std::string> domains)
    : interval_(interval), domains_(std::move(domains)) {}

PowerSeries::Sum PowerSeries::interval_of(const PowerBin& bin) noexcept {
  return {.lowest = bin.lowest.si(), .highest = bin.highest.si(), .sum = bin.mean.si(), .known = 1};
}

void PowerSeries::join(Sum& sum, const Sum& next) noexcept {
  if (next.known == 0) return;
  sum.lowest = sum.known == 0 ? next.lowest : std::min(sum.lowest, next.lowest);
  sum.highest = sum.known == 0 ? next.highest : std::max(sum.highest, next.highest);
  sum.sum += next.sum;
  sum.known += next.known;
}

void PowerSeries::halve() {
  const std::size_t half = (counts_.size() + 1) / 2;
  for (std::size_t i = 0; i < half; ++i) {
    std::vector<Sum> joined = sums_[2 * i];
    std::uint32_t count = counts_[2 * i];
    if (2 * i + 1 < counts_.size()) {
      for (std::size_t d = 0; d < joined.size(); ++d) join(joined[d], sums_[2 * i + 1][d]);
      count += counts_[2 * i + 1];
    }
    sums_[i] = std::move(joined);
    counts_[i] = count;
  }
  sums_.resize(half);
  counts_.resize(half);
  per_bin_ *= 2;
}

void PowerSeries::add(const std::vector<std::optional<Watts>>& powers) {
  if (counts_.size() == kMostBins && counts_.back() == per_bin_) halve();
  if (counts_.empty() || counts_.back() == per_bin_) {
    counts_.push_back(0);
    sums_.emplace_back(domains_.size());
  }
  ++counts_.back();
  for (std::size_t d = 0; d < std::min(powers.size(), domains_.size()); ++d) {
    if (powers[d]) join(sums_.back()[d], interval_of({*powers[d], *powers[d], *powers[d]}));
  }
}

PowerSeries PowerSeries::of_bins(Seconds bin_length, std::vector<std::string> domains,
                                 const std::vector<std::vector<std::optional<PowerBin>>>& bins) {
  PowerSeries series(bin_length, std::move(domains));
  for (const auto& powers : bins) {
    series.counts_.push_back(1);
    auto& sums = series.sums_.emplace_back(series.domains_.size());
    for (std::size_t d = 0; d < std::min(powers.size(), sums.size()); ++d) {
      if (powers[d]) sums[d] = interval_of(*powers[d]);
    }
  }
  return series;
}

std::optional<PowerBin> PowerSeries::bin(std::size_t domain, std::size_t number) const {
  const Sum& sum = sums_.at(number).at(domain);
  if (sum.known == 0) return std::nullopt;
  return PowerBin{.lowest = Watts(sum.lowest),
                  .mean = Watts(sum.sum / static_cast<double>(sum.known)),
                  .highest = Watts(sum.highest)};
}

std::string PowerSeries::packed() const {
  std::string bytes;
  put_varint(bytes, kSeriesFormat);
  put_varint(bytes, static_cast<std::uint64_t>(std::llround(interval_.count() * 1e9)));
  put_varint(bytes, per_bin_);
  put_varint(bytes, counts_.size());
  put_varint(bytes, counts_.empty() ? 0 : counts_.back());  // all others are full
  put_varint(bytes, domains_.size());
  for (std::size_t d = 0; d < domains_.size(); ++d) {
    put_varint(bytes, domains_[d].size());
    bytes += domains_[d];
    std::int64_t last = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const Sum& sum = sums_[i][d];
      put_varint(bytes, sum.known);
      if (sum.known == 0) continue;
      const std::int64_t mean = milliwatts(sum.sum / static_cast<double>(sum.known));
      put_varint(bytes, sign_folded(mean - std::exchange(last, mean)));
      put_varint(bytes, static_cast<std::uint64_t>(
                            std::max<std::int64_t>(mean - milliwatts(sum.lowest), 0)));
      put_varint(bytes, static_cast<std::uint64_t>(
                            std::max<std::int64_t>(milliwatts(sum.highest) - mean, 0)));
    }
  }
  return bytes;
}

std::optional<PowerSeries> PowerSeries::unpacked(std::string_view bytes) {
  const auto number = [&](std::uint64_t most) {
    const auto value = take_varint(bytes);
    return value && *value <= most ? value : std::nullopt;
  };
  constexpr std::uint64_t kMostDomains = 10'000;
  constexpr std::uint64_t kMostNumber = std::uint64_t{1} << 50U;
  constexpr std::uint64_t kMostCount = std::uint64_t{1} << 31U;
  if (number(kSeriesFormat) != kSeriesFormat) return std::nullopt;
  const auto interval = number(kMostNumber);
  const auto per_bin = number(kMostCount);
  const auto bins = number(kMostBins);
  const auto last_count = number(kMostCount);
  const auto domains = number(kMostDomains);
  if (!interval || !per_bin || *per_bin == 0 || !bins || !last_count || !domains)
    return std::nullopt;
  PowerSeries series(Seconds(static_cast<double>(*interval) * 1e-9), {});
  series.per_bin_ = static_cast<std::uint32_t>(*per_bin);
  series.counts_.assign(*bins, series.per_bin_);
  if (*bins > 0) series.counts_.back() = static_cast<std::uint32_t>(*last_count);
  series.sums_.resize(*bins);
  for (std::uint64_t d = 0; d < *domains; ++d) {
    const auto length = number(bytes.size());
    if (!length || *length > bytes.size()) return std::nullopt;
    series.domains_.emplace_back(bytes.substr(0, *length));
    bytes.remove_prefix(*length);
    std::int64_t mean = 0;
    for (auto& sums : series.sums_) {
      const auto known = number(kMostCount);
      if (!known) return std::nullopt;
      Sum sum{.known = static_cast<std::uint32_t>(*known)};
      if (*known > 0) {
        const auto change = number(kMostNumber);
        const auto below = number(kMostNumber);
        const auto above = number(kMostNumber);
        if (!change || !below || !above) return std::nullopt;
        mean += sign_unfolded(*change);
        const double watts = static_cast<double>(mean) * 1e-3;
        sum.sum = watts * static_cast<double>(*known);
        sum.lowest = watts - static_cast<double>(*below) * 1e-3;
        sum.highest = watts + static_cast<double>(*above) * 1e-3;
      }
      sums.push_back(sum);
    }
  }
  if (!bytes.empty()) return std::nullopt;
  return series;
}

}  // namespace wattle
