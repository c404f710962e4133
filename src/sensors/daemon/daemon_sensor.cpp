#include "sensors/daemon/daemon_sensor.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "sensors/known_sensors.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon_source {
namespace {

ReadStatus status_without_answer(RequestOutcome outcome) noexcept {
  switch (outcome) {
    case RequestOutcome::absent:
    case RequestOutcome::deserted:
    case RequestOutcome::denied:
      return ReadStatus::gone;
    default:
      return ReadStatus::retry;
  }
}

/// The domain of a CPU of the daemon; absent: none that this version knows.
std::optional<Domain> domain_of(const CpuCounters& cpu, const std::vector<CpuZone>& zones) {
  if (!cpu.domain.empty()) {
    try {
      const Domain domain = Domain::parse(cpu.domain);
      const bool is_cpu = domain.kind() == DomainKind::package || domain.kind() == DomainKind::psys;
      return is_cpu ? std::optional(domain) : std::nullopt;
    } catch (const InvalidArgument&) {
      return std::nullopt;
    }
  }
  // Older wattled numbers packages; zeusd numbers zones.
  if (!cpu.since_ms) {
    const auto zone = std::ranges::find(zones, cpu.id, &CpuZone::number);
    if (zone != zones.end()) return zone->domain;
  }
  return Domain::package(cpu.id);
}

}  // namespace

std::optional<std::uint64_t> RestartAwareCounter::update(
    std::uint64_t shown_uj, std::optional<std::uint64_t> since_ms) noexcept {
  const bool goes_on = has_last_ && shown_uj >= last_ && since_ms == since_ms_;
  if (!goes_on) {
    if (begin_ == 0) return std::nullopt;
    --begin_;
    base_ = shown_uj;
  }
  has_last_ = true;
  last_ = shown_uj;
  since_ms_ = since_ms;
  const std::uint64_t passed = shown_uj - base_;
  if (passed > std::numeric_limits<std::uint64_t>::max() - begin_) return std::nullopt;
  return begin_ + passed;
}

DaemonSensor::DaemonSensor(std::unique_ptr<DaemonConnection> connection,
                           const AllCounters& counters, const std::vector<CpuZone>& zones,
                           std::set<Domain> taken, const std::string& place,
                           const TimeSource& clock)
    : taken_(std::move(taken)), connection_(std::move(connection)), clock_(clock) {
  for (const CpuCounters& cpu : std::span(counters.cpus).first(counters.count)) {
    const auto domain = domain_of(cpu, zones);
    if (!domain) continue;
    if (cpu.cpu_uj) add(cpu, &CpuCounters::cpu_uj, *domain, place);
    const bool has_dram = cpu.dram_uj && domain->kind() == DomainKind::package;
    if (has_dram) add(cpu, &CpuCounters::dram_uj, domain->as(DomainKind::dram), place);
  }
}

void DaemonSensor::add(const CpuCounters& cpu, std::optional<std::uint64_t> CpuCounters::*shown,
                       Domain domain, const std::string& place) {
  // AMD's kernels show a package once a die.
  if (!taken_.insert(domain).second) return;
  channels_.push_back({.domain = domain,
                       .counter = {.tick = Joules(1e-6),
                                   .max_power = traits_of(domain).max_power,
                                   .least_power = traits_of(domain).least_power},
                       .update = kRaplUpdate,  // the daemon reads the counter when it is asked
                       .source = "daemon",
                       .place = place});
  counters_.push_back({.cpu = cpu.id, .name = std::string(cpu.domain), .shown = shown});
}

void DaemonSensor::read_some(ChannelSet /*wanted*/, std::span<Reading> readings) noexcept {
  readings = readings.first(std::min(readings.size(), counters_.size()));
  const auto fail = [&](ReadStatus status) {
    for (Reading& reading : readings) reading = {.at = clock_.now(), .status = status};
  };
  if (clock_.now() < rests_until_) return fail(ReadStatus::retry);
  const Reply reply = connection_->ask(kPatience);
  if (reply.outcome == RequestOutcome::silent) rests_until_ = clock_.now() + kRest;
  if (reply.outcome != RequestOutcome::answered) return fail(status_without_answer(reply.outcome));
  const auto all = reply.status == kStatusOk ? parse_counters(reply.body) : std::nullopt;
  if (!all) return fail(ReadStatus::retry);

  for (std::size_t i = 0; i < readings.size(); ++i) {
    DaemonCounter& counter = counters_[i];
    // Another daemon may number them in another way.
    const CpuCounters* const cpu =
        counter.name.empty() ? all->find(counter.cpu) : all->find(counter.name);
    const auto shown = cpu != nullptr ? cpu->*counter.shown : std::nullopt;
    const auto raw = shown ? counter.marked.update(*shown, cpu->since_ms) : std::nullopt;
    const ReadStatus without = cpu != nullptr ? ReadStatus::retry : ReadStatus::gone;
    readings[i] =
        reading_between(reply.before, reply.after, raw.value_or(0), raw ? ReadStatus::ok : without);
  }
}

}  // namespace wattle::daemon_source
