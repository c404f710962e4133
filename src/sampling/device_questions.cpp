#include "sampling/device_questions.hpp"

#include <algorithm>
#include <utility>

namespace wattle {

void NewestReadings::read(ChannelSet wanted, std::chrono::nanoseconds longest_age,
                          std::span<Reading> readings) noexcept {
  const std::size_t count = std::min(newest_.size(), wanted.size());
  ChannelSet asked;
  const TimePoint oldest = clock_.now() - longest_age;
  for (std::size_t i = 0; i < count; ++i) {
    asked[i] = wanted[i] && (longest_age.count() == 0 || newest_[i].at < oldest);
  }
  if (asked.any()) sensor_->read_some(asked, got_);
  for (std::size_t i = 0; i < count; ++i) {
    if (asked[i]) newest_[i] = got_[i];
    if (wanted[i]) readings[i] = newest_[i];
  }
}

DeviceAnswer answer_of(NewestReadings& device, const DeviceQuestion& question) {
  DeviceAnswer answer{.readings = std::vector<Reading>(device.sensor().channels().size())};
  if (question.channels.any()) {
    device.read(question.channels, question.longest_age, answer.readings);
  }
  if (question.settings) answer.settings = device.sensor().settings();
  if (question.processes) answer.processes = device.sensor().processes();
  return answer;
}

void WaitingQuestions::ask(Worker& thread, const Answer& answer, const DeviceQuestion& question,
                           TimePoint now, Then then, const Post& post) {
  auto open = std::ranges::find_if(open_, [&](const std::shared_ptr<OpenAnswer>& asked) {
    return asked->question == question && !asked->has_begun;
  });
  if (open == open_.end()) {
    auto next = std::make_shared<OpenAnswer>(question, now);
    // The answer goes back to the thread that asks: the device's may outlive this object.
    const auto work = [next, answer, post]() mutable {
      next->has_begun = true;
      auto shown = std::make_shared<const DeviceAnswer>(answer(next->question));
      post([next = std::move(next), shown = std::move(shown)] {
        for (const Then& answer_to : std::exchange(next->waiting, {})) answer_to(*shown);
      });
    };
    if (!thread.add(work, kMostJobs)) return then({.end = QuestionEnd::not_sent});
    std::erase_if(open_,
                  [](const std::shared_ptr<OpenAnswer>& asked) { return asked->waiting.empty(); });
    open = open_.insert(open_.end(), std::move(next));
  }
  if ((*open)->waiting.size() >= kMostWaiting) return then({.end = QuestionEnd::too_many});
  (*open)->waiting.push_back(std::move(then));
}

bool WaitingQuestions::has_waited(TimePoint since) const noexcept {
  return std::ranges::any_of(open_, [&](const std::shared_ptr<OpenAnswer>& open) {
    return !open->waiting.empty() && open->asked <= since;
  });
}

}  // namespace wattle
