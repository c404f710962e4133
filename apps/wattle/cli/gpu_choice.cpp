#include "cli/gpu_choice.hpp"

#include "sensors/gpu_selection.hpp"
#include "wattle/error.hpp"

namespace wattle::app {

GpuSelection parse_gpus(const std::string& text) try {
  return GpuSelection::parse(text);
} catch (const InvalidArgument& error) {
  throw InvalidArgument(std::string(kGpuChoice) + ": " + error.what());
}

void keep_chosen(const GpuSelection& gpus, Survey& found) try {
  const auto leave_out = [&](SensorRefusal refusal) {
    refusal.source = kGpuChoice;
    refusal.reason = std::string("left out by ") + kGpuChoice;
    found.refused.push_back(std::move(refusal));
  };
  for (const Domain& gpu : keep_selected(gpus, found, kGpuChoice)) {
    leave_out({.source = {}, .subject = gpu.name(), .domain = gpu, .shows = {gpu.kind()}});
  }
  if (gpus.is_none()) {
    leave_out({.source = {},
               .subject = "GPUs",
               .scope = RefusalScope::interface,
               .shows = DomainKinds::of({DomainCategory::gpu})});
  }
} catch (const NoSuchDevice& error) {
  throw InvalidArgument(error.what());  // what was typed is wrong
}

}  // namespace wattle::app
