#include "units/unit_tags.hpp"

#include <bit>
#include <functional>

namespace wattle::detail {

UnitTags::UnitTags(std::size_t most)
    : most_(most + 1), mask_(std::bit_ceil(4 * most_) - 1), names_(most_), places_(mask_ + 1) {
  names_[kOther] = std::make_unique<const Name>(Name{.name = "other", .of = std::nullopt});
  size_ = 1;
}

/// Where the name is, or where it would be added.
std::size_t UnitTags::place_of(std::string_view name,
                               std::optional<std::uint16_t> of) const noexcept {
  std::size_t place = std::hash<std::string_view>{}(name) + (of ? *of + std::size_t{1} : 0) * 31;
  while (true) {
    place &= mask_;
    const std::uint16_t column = places_[place].load(std::memory_order_acquire);
    if (column == 0) return place;
    const Name& known = *names_[column];
    if (known.name == name && known.of == of) return place;
    ++place;
  }
}

std::uint16_t UnitTags::column(std::string_view name, std::optional<std::uint16_t> of) {
  name = name.substr(0, kLongestName);
  if (of == kOther || (!of && name == names_[kOther]->name)) return kOther;
  if (const std::uint16_t column = places_[place_of(name, of)].load(std::memory_order_acquire)) {
    return column;
  }
  if (size() == most_) {
    ++beyond_;
    return kOther;
  }
  const std::scoped_lock lock(mutex_);
  const std::size_t place = place_of(name, of);
  if (const std::uint16_t column = places_[place].load()) return column;
  if (size() == most_) {
    ++beyond_;
    return kOther;
  }
  const auto column = static_cast<std::uint16_t>(size());
  names_[column] = std::make_unique<const Name>(Name{.name = std::string(name), .of = of});
  // A thread that finds the column finds it counted: tables are as long as that.
  size_.store(column + std::size_t{1}, std::memory_order_release);
  places_[place].store(column, std::memory_order_release);
  return column;
}

}  // namespace wattle::detail
