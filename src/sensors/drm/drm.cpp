#include "sensors/drm/drm.hpp"

#include <algorithm>
#include <condition_variable>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/thread.hpp"
#include "sensors/drm/card.hpp"
#include "sensors/drm/diagnosis.hpp"
#include "sensors/drm/gpu.hpp"
#include "sensors/drm/gpu_sensor.hpp"
#include "sensors/drm/users.hpp"

namespace wattle::drm {
namespace {

using std::chrono::nanoseconds;

/// What the threads of a probe have found so far. Threads: any.
class Findings {
 public:
  explicit Findings(std::size_t count) : gpus_(count), missing_(count) {}

  void add(std::size_t index, Gpu gpu) {
    const std::scoped_lock lock(mutex_);
    if (gpus_.empty()) return;  // nobody waits any more
    gpus_[index] = std::move(gpu);
    --missing_;
    changed_.notify_all();
  }

  /// Waits until everybody has answered or the deadline has passed; later answers are dropped.
  std::vector<std::optional<Gpu>> wait(nanoseconds deadline) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, deadline, [&] { return missing_ == 0; });
    return std::exchange(gpus_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::optional<Gpu>> gpus_;
  std::size_t missing_;  ///< GPUs that have not answered yet
};

using Examine = std::function<Gpu(const GpuCard&)>;

void examine_into(const std::shared_ptr<Findings>& findings, std::size_t index, const GpuCard& card,
                  const Examine& examine_card) noexcept {
  try {
    findings->add(index, examine_card(card));
  } catch (const std::exception&) {
    // Out of memory: nothing is left to tell it with, and the deadline will.
  }
}

/// Examines each card in a thread of its own.
std::vector<std::optional<Gpu>> examine_all(const std::vector<GpuCard>& cards, nanoseconds deadline,
                                            const Examine& examine_card) {
  if (cards.empty()) return {};
  const auto findings = std::make_shared<Findings>(cards.size());
  for (std::size_t i = 0; i < cards.size(); ++i) {
    const auto work = [findings, i, card = cards[i], examine_card] {
      examine_into(findings, i, card, examine_card);
    };
    try {
      start_detached(work);
    } catch (const std::system_error&) {
      work();  // no thread to be had: then one by one
    }
  }
  return findings->wait(deadline);
}

/// Made by AMD or Intel, but driven by something that is not known.
bool should_be_readable(const Card& card) {
  return !card.pci_address.empty() &&
         (card.ids.starts_with("1002:") || card.ids.starts_with("8086:"));
}

}  // namespace

Survey probe_within(const System& system, const Clock& clock, nanoseconds deadline,
                    const Examine& examine_card) {
  const Cards cards = find_cards(system);
  Survey survey;
  std::vector<GpuCard> gpus;
  for (const GpuCard& card : cards.gpus) {
    if (card.is_integrated_intel()) {
      survey.refused.push_back(inside_processor(card));
    } else {
      gpus.push_back(card);
    }
  }
  for (const Card& card : cards.others) {
    if (should_be_readable(card)) survey.refused.push_back(unknown_driver(card));
  }
  if (gpus.empty() && survey.refused.empty()) {
    survey.refused.push_back(no_gpus(system, cards.others));
  }
  const auto open = std::make_shared<OpenNodes>(system.procfs);
  std::vector<std::optional<Gpu>> examined = examine_all(gpus, deadline, examine_card);
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    std::optional<Gpu>& gpu = examined[i];
    if (!gpu) {
      survey.refused.push_back(no_answer(gpus[i], deadline));
      continue;
    }
    std::ranges::move(gpu->refused, std::back_inserter(survey.refused));
    if (gpu->channels.empty()) continue;
    survey.sensors.push_back(std::make_unique<GpuSensor>(*std::move(gpu), open, clock));
  }
  return survey;
}

Survey probe(const System& system, const Clock& clock, const std::set<Domain>& /*taken*/) {
  return probe_within(system, clock, kProbeDeadline);
}

}  // namespace wattle::drm
