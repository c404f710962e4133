#include "cli/gpu_choice.hpp"

#include "base/clock.hpp"
#include "sensors/providers.hpp"
#include "wattle/error.hpp"

namespace wattle::app {

GpuSelection parse_gpus(const std::string& text) try {
  return GpuSelection::parse(text);
} catch (const InvalidArgument& error) {
  throw InvalidArgument(std::string(kGpuChoice) + ": " + error.what());
}

Survey survey_gpus(const System& system, DomainKinds kinds, const GpuSelection& gpus) try {
  Survey found =
      survey_chosen(system, machine_clock(), {.kinds = kinds, .gpus = gpus, .who = kGpuChoice});
  const auto leave_out = [&](SensorRefusal refusal) {
    refusal.source = kGpuChoice;
    refusal.reason = std::string("left out by ") + kGpuChoice;
    found.refused.push_back(std::move(refusal));
  };
  for (const Domain& gpu : found.left_out) {
    leave_out({.source = {}, .subject = gpu.name(), .domain = gpu, .shows = {gpu.kind()}});
  }
  if (gpus.is_none()) {
    leave_out({.source = {},
               .subject = "GPUs",
               .scope = RefusalScope::interface,
               .shows = DomainKinds::of({DomainCategory::gpu})});
  }
  return found;
} catch (const NoSuchDevice& error) {
  throw InvalidArgument(error.what());  // what was typed is wrong
}

}  // namespace wattle::app
