#include "wattle/domain.hpp"

#include <array>
#include <compare>
#include <mutex>
#include <ostream>
#include <set>

#include "base/json/enum_table.hpp"
#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "sensors/domain_traits.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

constexpr std::size_t kLongestCustomName = 64;

constexpr bool is_small_letter(char c) noexcept { return c >= 'a' && c <= 'z'; }
constexpr bool is_small_letter_or_digit(char c) noexcept {
  return is_small_letter(c) || is_digit(c);
}

/// True for what `Domain::custom` takes, but that it could be a name of another kind.
bool has_custom_form(std::string_view source, std::string_view part) noexcept {
  const auto is_word_letter = [](char c) { return is_small_letter_or_digit(c) || c == '_'; };
  return !source.empty() && is_small_letter(source.front()) &&
         std::ranges::all_of(source, is_small_letter_or_digit) && !part.empty() &&
         std::ranges::all_of(part, is_word_letter) &&
         source.size() + 1 + part.size() <= kLongestCustomName;
}

/// True for "package" and "package_...", say.
bool is_called_after(const DomainTraits& traits, std::string_view name) noexcept {
  return name.starts_with(traits.name) &&
         (name.size() == traits.name.size() || name[traits.name.size()] == '_');
}

const std::string* interned(std::string name) {
  static std::mutex mutex;
  // Never destroyed: domains are compared and named until the last thread ends.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
  static auto& names = *new std::set<std::string>;
  const std::scoped_lock lock(mutex);
  return &*names.insert(std::move(name)).first;
}

/// Takes "_12" off the front of `text`.
std::optional<std::uint32_t> take_number(std::string_view& text) noexcept {
  if (!text.starts_with('_')) return std::nullopt;
  const std::string_view digits = text.substr(1, text.find('_', 1) - 1);
  const auto number = parse_unsigned<std::uint32_t>(digits);
  if (number) text.remove_prefix(1 + digits.size());
  return number;
}

}  // namespace

std::string_view to_string(DomainKind kind) noexcept { return traits_of(kind).name; }

std::string_view to_string(DomainCategory category) noexcept {
  constexpr std::array<std::string_view, 4> kNames = {"cpu", "gpu", "platform", "other"};
  return entry_of(kNames, category);
}

DomainCategory category_of(DomainKind kind) noexcept { return traits_of(kind).category; }

bool counts_in_total(DomainKind kind) noexcept { return !traits_of(kind).in_total.empty(); }

std::optional<DomainKind> kind_of_name(std::string_view name) noexcept {
  for (const DomainTraits& traits : all_domain_traits()) {
    if (traits.kind != DomainKind::custom && is_called_after(traits, name)) return traits.kind;
  }
  const std::size_t end = name.find('_');
  if (end == std::string_view::npos) return std::nullopt;
  if (!has_custom_form(name.substr(0, end), name.substr(end + 1))) return std::nullopt;
  return DomainKind::custom;
}

Domain Domain::package(std::uint32_t socket) noexcept { return {DomainKind::package, socket}; }
Domain Domain::dram(std::uint32_t socket) noexcept { return {DomainKind::dram, socket}; }
Domain Domain::core(std::uint32_t socket) noexcept { return {DomainKind::core, socket}; }
Domain Domain::uncore(std::uint32_t socket) noexcept { return {DomainKind::uncore, socket}; }
Domain Domain::nvidia_gpu(std::uint32_t index) noexcept { return {DomainKind::nvidia_gpu, index}; }
Domain Domain::amd_gpu(std::uint32_t index) noexcept { return {DomainKind::amd_gpu, index}; }
Domain Domain::intel_gpu(std::uint32_t index) noexcept { return {DomainKind::intel_gpu, index}; }
Domain Domain::psys(std::uint32_t index) noexcept { return {DomainKind::psys, index}; }

Domain Domain::custom(std::string_view source, std::string_view part) {
  std::string name = std::string(source) + "_" + std::string(part);
  if (!has_custom_form(source, part)) {
    throw InvalidArgument("cannot name a domain \"" + printable(name) +
                          "\": use letters a to z, digits and _, at most 64 of them");
  }
  if (kind_of_name(name) != DomainKind::custom) {
    throw InvalidArgument("cannot name a domain \"" + name +
                          "\": domains of another kind are named so");
  }
  Domain domain(DomainKind::custom, 0);
  domain.custom_name_ = interned(std::move(name));
  return domain;
}

Domain Domain::parse(std::string_view name) {
  const auto fail = [&] {
    return InvalidArgument("\"" + printable(name) +
                           "\" is not the name of a domain, such as package_0 or nvidia_gpu_1; "
                           "wattle sensors lists them");
  };
  const std::optional<DomainKind> kind = kind_of_name(name);
  if (!kind) throw fail();
  if (*kind == DomainKind::custom) {
    const std::size_t end = name.find('_');
    return custom(name.substr(0, end), name.substr(end + 1));
  }
  Domain domain(*kind, 0);
  std::string_view rest = name.substr(to_string(*kind).size());
  if (const auto index = take_number(rest)) domain.index_ = *index;
  if (take_prefix(rest, "_die")) domain.die_ = take_number(rest);
  if (domain.name() != name) throw fail();  // "package", "psys_0", "dram_1x"
  return domain;
}

Domain Domain::on_die(std::uint32_t die) const noexcept {
  Domain domain = *this;
  domain.die_ = die;
  return domain;
}

Domain Domain::as(DomainKind kind) const noexcept {
  Domain domain = *this;
  if (kind != DomainKind::custom && kind_ != DomainKind::custom) domain.kind_ = kind;
  return domain;
}

std::string Domain::name() const {
  if (custom_name_ != nullptr) return *custom_name_;
  std::string name(kind_name());
  // A machine has one platform counter, but for boards of several sockets with one each.
  if (kind_ != DomainKind::psys || index_ != 0) name += "_" + std::to_string(index_);
  if (die_) name += "_die_" + std::to_string(*die_);
  return name;
}

std::strong_ordering Domain::operator<=>(const Domain& other) const noexcept {
  if (const auto order = kind_ <=> other.kind_; std::is_neq(order)) return order;
  if (const auto order = index_ <=> other.index_; std::is_neq(order)) return order;
  if (const auto order = die_ <=> other.die_; std::is_neq(order)) return order;
  if (custom_name_ == other.custom_name_) return std::strong_ordering::equal;
  return *custom_name_ <=> *other.custom_name_;
}

std::ostream& operator<<(std::ostream& out, const Domain& domain) { return out << domain.name(); }

}  // namespace wattle
