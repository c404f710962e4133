#include "sampling/power_profile.hpp"

namespace wattle {

PowerProfile::PowerProfile(std::size_t bins) : bins_(bins) {}

void PowerProfile::add(std::optional<Watts> power) noexcept {
  if (used_ == bins_.size() && bins_.back().all == per_bin_) {
    for (std::size_t i = 0; i < used_ / 2; ++i) {
      const Bin& left = bins_[2 * i];
      const Bin& right = bins_[2 * i + 1];
      bins_[i] = {.sum = left.sum + right.sum,
                  .known = left.known + right.known,
                  .all = left.all + right.all};
    }
    used_ /= 2;
    per_bin_ *= 2;
  }
  if (used_ == 0 || bins_[used_ - 1].all == per_bin_) bins_[used_++] = {};
  Bin& bin = bins_[used_ - 1];
  ++bin.all;
  if (power) {
    ++bin.known;
    bin.sum += *power;
  }
}

std::vector<std::optional<Watts>> PowerProfile::means() const {
  std::vector<std::optional<Watts>> means;
  for (std::size_t i = 0; i < used_; ++i) {
    const Bin& bin = bins_[i];
    means.push_back(bin.known > 0 ? std::optional(bin.sum / static_cast<double>(bin.known))
                                  : std::nullopt);
  }
  return means;
}

}  // namespace wattle
