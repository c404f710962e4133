#include <utility>

#include "energy/metered_domains.hpp"
#include "wattle/energy_meter.hpp"
#include "wattle/error.hpp"

namespace wattle {

using detail::MeteredDomains;
using detail::StoredBoundary;

EnergySource::~EnergySource() = default;

/// The first reading.
struct EnergyReader::Start {
  std::shared_ptr<MeteredDomains> domains;
  TimePoint at;
  std::vector<StoredBoundary> ends;
};

EnergyReader::EnergyReader(EnergyMeterOptions options)
    : EnergyReader([&] {
        options.aligned = false;
        return MeteredDomains::open(options);
      }()) {}

EnergyReader::EnergyReader(std::shared_ptr<MeteredDomains> domains) {
  Start start{.domains = std::move(domains), .at = {}, .ends = {}};
  start.ends.resize(start.domains->names()->size());
  start.at = start.domains->capture(detail::CallKind::start, start.ends, {}).returned;
  start_ = std::make_unique<const Start>(std::move(start));
}

EnergyReader::~EnergyReader() = default;
EnergyReader::EnergyReader(EnergyReader&&) noexcept = default;
EnergyReader& EnergyReader::operator=(EnergyReader&&) noexcept = default;

const DomainNames& EnergyReader::domains() const noexcept {
  static const DomainNames none = std::make_shared<const std::vector<std::string>>();
  return start_ ? start_->domains->names() : none;
}

std::span<const Refusal> EnergyReader::missing() const noexcept {
  if (!start_) return {};
  return start_->domains->missing();
}

std::vector<EnergyReading> EnergyReader::read() {
  if (!start_) {
    throw InvalidArgument("cannot use a reader that was moved: use the one it became");
  }
  MeteredDomains& domains = *start_->domains;
  std::vector<StoredBoundary> ends(start_->ends.size());
  const TimePoint now = domains.capture(detail::CallKind::stop, ends, {}).called;
  std::vector<EnergyReading> readings;
  readings.reserve(ends.size());
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const bool is_read = ends[i].state == StoredBoundary::BoundaryState::read;
    readings.push_back(
        {.domain = (*domains.names())[i],
         .at = is_read ? ends[i].at : now,
         .energy = domains.energy(
             i, {.begin = start_->at, .end = now, .first = start_->ends[i], .last = ends[i]})});
  }
  return readings;
}

}  // namespace wattle
