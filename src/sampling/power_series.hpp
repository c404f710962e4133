// The power of a run over time, in a bounded number of bins: what the history keeps and a page
// draws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wattle/units.hpp"

namespace wattle {

/// Power in one bin. Threads: a value type.
struct PowerBin {
  Watts lowest;
  Watts mean;
  Watts highest;  ///< of the intervals in it
};

/// Equal intervals of several domains come in one by one; when the bins are full, neighbours are
/// joined two by two. Threads: one at a time.
class PowerSeries {
 public:
  static constexpr std::size_t kMostBins = 1000;

  PowerSeries() = default;
  /// `interval`: the length of one interval. `domains`: their names, "package_0".
  PowerSeries(Seconds interval, std::vector<std::string> domains);

  /// The mean power of the next interval of each domain, in their order; absent where unknown.
  void add(const std::vector<std::optional<Watts>>& powers);

  [[nodiscard]] const std::vector<std::string>& domains() const noexcept { return domains_; }
  /// The length of one bin; the last one may be shorter.
  [[nodiscard]] Seconds bin_length() const noexcept {
    return interval_ * static_cast<double>(per_bin_);
  }
  [[nodiscard]] std::size_t bins() const noexcept { return counts_.size(); }
  /// Absent where nothing in it is known.
  [[nodiscard]] std::optional<PowerBin> bin(std::size_t domain, std::size_t number) const;

  /// A series that was written out: for each bin, the power of each domain.
  [[nodiscard]] static PowerSeries of_bins(
      Seconds bin_length, std::vector<std::string> domains,
      const std::vector<std::vector<std::optional<PowerBin>>>& bins);

  /// As bytes: about 4 a bin and domain, to the milliwatt.
  [[nodiscard]] std::string packed() const;
  /// The inverse; absent for anything else.
  [[nodiscard]] static std::optional<PowerSeries> unpacked(std::string_view bytes);

 private:
  struct Sum {
    double lowest = 0.0;
    double highest = 0.0;
    double sum = 0.0;
    std::uint32_t known = 0;  ///< intervals in it
  };
  static Sum interval_of(const PowerBin& bin) noexcept;
  static void join(Sum& sum, const Sum& next) noexcept;
  void halve();

  Seconds interval_{0};
  std::vector<std::string> domains_;
  std::vector<std::vector<Sum>> sums_;  ///< of each bin, one a domain
  std::vector<std::uint32_t> counts_;   ///< intervals in each bin, known or not
  std::uint32_t per_bin_ = 1;
};

}  // namespace wattle
