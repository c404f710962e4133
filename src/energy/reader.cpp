#include <utility>

#include "energy/metered_domains.hpp"
#include "wattle/energy_meter.hpp"
#include "wattle/error.hpp"

namespace wattle {

using detail::ColumnEnd;
using detail::MeteredDomains;

EnergySource::~EnergySource() = default;

/// What was read first.
struct EnergyReader::Start {
  std::shared_ptr<MeteredDomains> columns;
  TimePoint at;
  std::vector<ColumnEnd> ends;
};

EnergyReader::EnergyReader(EnergyMeterOptions options)
    : EnergyReader([&] {
        options.aligned = false;
        return MeteredDomains::open(options);
      }()) {}

EnergyReader::EnergyReader(std::shared_ptr<MeteredDomains> columns) {
  Start start{.columns = std::move(columns), .at = {}, .ends = {}};
  start.ends.resize(start.columns->names()->size());
  start.at = start.columns->capture(detail::Edge::begin, start.ends, {}).returned;
  start_ = std::make_unique<const Start>(std::move(start));
}

EnergyReader::~EnergyReader() = default;
EnergyReader::EnergyReader(EnergyReader&&) noexcept = default;
EnergyReader& EnergyReader::operator=(EnergyReader&&) noexcept = default;

const DomainNames& EnergyReader::domains() const noexcept {
  static const DomainNames none = std::make_shared<const std::vector<std::string>>();
  return start_ ? start_->columns->names() : none;
}

std::span<const Refusal> EnergyReader::missing() const noexcept {
  if (!start_) return {};
  return start_->columns->missing();
}

std::vector<EnergyReading> EnergyReader::read() {
  if (!start_) {
    throw InvalidArgument("cannot use a reader that was moved: use the one it became");
  }
  MeteredDomains& columns = *start_->columns;
  std::vector<ColumnEnd> ends(start_->ends.size());
  const TimePoint now = columns.capture(detail::Edge::end, ends, {}).called;
  std::vector<EnergyReading> readings;
  readings.reserve(ends.size());
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const bool is_read = ends[i].state == ColumnEnd::State::read;
    readings.push_back(
        {.domain = (*columns.names())[i],
         .at = is_read ? ends[i].at : now,
         .energy = columns.energy(
             i, {.begin = start_->at, .end = now, .first = start_->ends[i], .last = ends[i]})});
  }
  return readings;
}

}  // namespace wattle
