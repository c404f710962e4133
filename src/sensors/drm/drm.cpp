#include "sensors/drm/drm.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "base/call_with_deadline.hpp"
#include "sensors/drm/card.hpp"
#include "sensors/drm/diagnosis.hpp"
#include "sensors/drm/gpu.hpp"
#include "sensors/drm/gpu_processes.hpp"
#include "sensors/examination.hpp"

namespace wattle::drm {
namespace {

using std::chrono::nanoseconds;

/// Made by AMD or Intel, but driven by something that is not known.
bool should_be_readable(const Card& card) {
  return !card.pci_address.empty() &&
         (card.ids.starts_with("1002:") || card.ids.starts_with("8086:"));
}

}  // namespace

Survey probe_within(const System& system, const TimeSource& clock, nanoseconds deadline,
                    const std::function<DrmGpu(const GpuCard&)>& examine_card) {
  const Cards cards = find_cards(system);
  Survey survey;
  if (cards.error != 0) {
    survey.refused.push_back(unlisted(system, cards.error, !cards.gpus.empty()));
  }
  std::vector<GpuCard> gpus;
  for (const GpuCard& card : cards.gpus) {
    if (card.is_integrated_intel()) {
      survey.refused.push_back(inside_processor(card));
    } else {
      gpus.push_back(card);
    }
  }
  for (const Card& card : cards.others) {
    if (card.error != 0) survey.refused.push_back(unknown_card(card));
    if (should_be_readable(card)) survey.refused.push_back(unknown_driver(card));
  }
  if (gpus.empty() && survey.refused.empty()) {
    survey.refused.push_back(no_gpus(system, cards.others));
  }
  const auto open = std::make_shared<OpenGpuFiles>(system.procfs);
  add_examined(
      survey,
      call_with_deadline<DrmGpu>(
          gpus.size(), deadline,
          [gpus, examine_card](std::size_t i, const auto&) { return examine_card(gpus[i]); }),
      [&](std::size_t i) { return no_answer(gpus[i], deadline); },
      [&](DrmGpu gpu) { return std::make_unique<DrmGpuSensor>(std::move(gpu), open, clock); });
  return survey;
}

Survey probe(const System& system, const TimeSource& clock, const std::set<Domain>& /*taken*/) {
  return probe_within(system, clock, kProbeDeadline);
}

}  // namespace wattle::drm
