#include <memory>
#include <mutex>

#include "energy/handlers/handler.hpp"
#include "wattle/error.hpp"
#include "wattle/handlers.hpp"

namespace wattle {

EnergyTable to_table(const EnergyTrace& trace) {
  EnergyTable table;
  if (trace.empty()) return table;
  const DomainNames& domains = trace[0].domains();
  require_same_domains(domains, trace);
  table.timestamps.reserve(trace.size());
  table.tags.reserve(trace.size());
  table.durations.reserve(trace.size());
  for (const std::string& domain : *domains) {
    table.domains.push_back({.domain = domain, .energies = {}});
    table.domains.back().energies.reserve(trace.size());
  }
  for (const EnergySample& sample : trace) {
    table.timestamps.push_back(sample.timestamp());
    table.tags.push_back(sample.tag());
    table.durations.push_back(sample.duration());
    for (std::size_t i = 0; i < table.domains.size(); ++i) {
      table.domains[i].energies.push_back(sample.energies()[i]);
    }
  }
  return table;
}

struct TableHandler::State {
  std::mutex mutex;
  EnergyTrace all;
};

TableHandler::TableHandler() : state_(std::make_unique<State>()) {}

TableHandler::~TableHandler() = default;

void TableHandler::process(const EnergyTrace& trace) {
  const std::lock_guard lock(state_->mutex);
  state_->all += trace;
}

EnergyTable TableHandler::table() const {
  const std::lock_guard lock(state_->mutex);
  if (state_->all.empty()) {
    throw NoSampleProcessed("there is no table yet: the handler was given no sample");
  }
  return to_table(state_->all);
}

}  // namespace wattle
