#include "wattle/domain.hpp"

namespace wattle {

std::string_view to_string(DomainKind kind) noexcept {
  switch (kind) {
    case DomainKind::package:
      return "package";
    case DomainKind::dram:
      return "dram";
    case DomainKind::core:
      return "core";
    case DomainKind::uncore:
      return "uncore";
    case DomainKind::nvidia_gpu:
      return "nvidia_gpu";
    case DomainKind::amd_gpu:
      return "amd_gpu";
    case DomainKind::intel_gpu:
      return "intel_gpu";
    case DomainKind::psys:
      return "psys";
  }
  return "unknown";
}

Domain Domain::package(std::uint32_t socket) noexcept { return {DomainKind::package, socket}; }
Domain Domain::dram(std::uint32_t socket) noexcept { return {DomainKind::dram, socket}; }
Domain Domain::core(std::uint32_t socket) noexcept { return {DomainKind::core, socket}; }
Domain Domain::uncore(std::uint32_t socket) noexcept { return {DomainKind::uncore, socket}; }
Domain Domain::nvidia_gpu(std::uint32_t index) noexcept { return {DomainKind::nvidia_gpu, index}; }
Domain Domain::amd_gpu(std::uint32_t index) noexcept { return {DomainKind::amd_gpu, index}; }
Domain Domain::intel_gpu(std::uint32_t index) noexcept { return {DomainKind::intel_gpu, index}; }
Domain Domain::psys(std::uint32_t index) noexcept { return {DomainKind::psys, index}; }

Domain Domain::on_die(std::uint32_t die) const noexcept {
  Domain domain = *this;
  domain.die_ = die;
  return domain;
}

Domain Domain::as(DomainKind kind) const noexcept {
  Domain domain = *this;
  domain.kind_ = kind;
  return domain;
}

std::string Domain::name() const {
  std::string name(kind_name());
  // A machine has one platform counter, but for boards of several sockets with one each.
  if (kind_ != DomainKind::psys || index_ != 0) name += "_" + std::to_string(index_);
  if (die_) name += "_die_" + std::to_string(*die_);
  return name;
}

}  // namespace wattle
