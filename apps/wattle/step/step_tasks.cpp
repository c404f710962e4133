#include "step/step_tasks.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text/parse.hpp"
#include "base/text/split.hpp"

namespace wattle::app {
namespace {

constexpr std::uint64_t kKibi = 1024;
/// More is damaged, and its sum would overflow: 30 years, 1 EiB.
constexpr std::uint64_t kMostUs = 1'000'000'000'000'000;
constexpr std::uint64_t kMostGpus = 1024;
constexpr std::uint64_t kMostRestarts = 1'000'000;
constexpr std::uint64_t kMostKb = std::uint64_t{1} << 50U;

std::optional<std::uint64_t> number_up_to(std::string_view word, std::uint64_t most) noexcept {
  const auto number = parse_unsigned<std::uint64_t>(word);
  return number && *number <= most ? number : std::nullopt;
}

Seconds seconds_of_us(std::uint64_t us) { return Seconds(static_cast<double>(us) / 1e6); }

bool has_status(const SlurmTask& task) noexcept { return task.code || task.signal; }

}  // namespace

void StepTasks::take(std::string_view bytes, double now_unix_s) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    is_too_long_ = is_too_long_ || open_line_.size() + part.size() > kMostLineBytes;
    if (!is_too_long_) open_line_ += part;
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    if (is_too_long_) {
      ++ignored_;
    } else {
      take_line(open_line_, now_unix_s);
    }
    open_line_.clear();
    is_too_long_ = false;
  }
}

void StepTasks::take_line(std::string_view line, double now_unix_s) {
  const std::string_view word = take_word(line);
  bool is_known = false;
  if (word == "end") {
    is_known = has_ended_ = true;
  } else if (word == "exit") {
    is_known = take_exit(line, now_unix_s);
  } else if (word == "start") {
    const auto rank = parse_unsigned<unsigned>(trimmed(line));
    SlurmTask* const task = rank ? task_of(*rank) : nullptr;
    is_known = task != nullptr;
    if (is_known) task->started_unix_s = now_unix_s;
  } else if (word == "gpus") {
    const auto gpus = number_up_to(trimmed(line), kMostGpus);
    is_known = gpus.has_value();
    if (is_known) gpus_ = static_cast<unsigned>(*gpus);
  } else if (word == "restarts") {
    const auto restarts = number_up_to(trimmed(line), kMostRestarts);
    is_known = restarts.has_value();
    if (is_known) restarts_ = static_cast<unsigned>(*restarts);
  } else if (word == "launcher") {
    const auto rss_kb = number_up_to(trimmed(line), kMostKb);
    is_known = rss_kb.has_value();
    if (is_known) launcher_rss_bytes_ = *rss_kb * kKibi;
  }
  if (!is_known) ++ignored_;
}

bool StepTasks::take_exit(std::string_view rest, double now_unix_s) {
  const auto rank = parse_unsigned<unsigned>(take_word(rest));
  const auto status = parse_unsigned<std::uint32_t>(take_word(rest));
  const auto user_us = number_up_to(take_word(rest), kMostUs);
  const auto system_us = number_up_to(take_word(rest), kMostUs);
  const std::string_view rss_word = take_word(rest);
  const auto rss_kb = number_up_to(rss_word, kMostKb);
  std::array<std::uint64_t, 4> counts{};
  for (std::uint64_t& count : counts) {
    const auto number = number_up_to(take_word(rest), kMostUs);
    if (!number) return false;
    count = *number;
  }
  if (!rank || !status || !user_us || !system_us || (!rss_kb && rss_word != "-")) return false;
  SlurmTask* const task = task_of(*rank);
  if (task == nullptr || has_status(*task)) return false;
  const int wait_status = static_cast<int>(*status);
  if (WIFSIGNALED(wait_status)) {
    task->signal = WTERMSIG(wait_status);
  } else {
    task->code = WEXITSTATUS(wait_status);
  }
  task->ended_unix_s = now_unix_s;
  task->cpu_user = seconds_of_us(*user_us);
  task->cpu_system = seconds_of_us(*system_us);
  if (rss_kb) task->peak_rss_bytes = *rss_kb * kKibi;
  usage_.cpu_user += *task->cpu_user;
  usage_.cpu_system += *task->cpu_system;
  usage_.peak_rss_bytes = std::max(usage_.peak_rss_bytes, task->peak_rss_bytes.value_or(0));
  usage_.minor_faults += counts[0];
  usage_.major_faults += counts[1];
  usage_.voluntary_switches += counts[2];
  usage_.involuntary_switches += counts[3];
  return true;
}

SlurmTask* StepTasks::task_of(unsigned rank) {
  const auto place = std::ranges::lower_bound(tasks_, rank, {}, &SlurmTask::rank);
  if (place != tasks_.end() && place->rank == rank) return &*place;
  if (tasks_.size() == kMostTasks) return nullptr;
  return &*tasks_.insert(place, SlurmTask{.rank = rank});
}

Exit StepTasks::exit() const {
  Exit exit{.started = !tasks_.empty()};
  const auto lost =
      std::ranges::count_if(tasks_, [](const SlurmTask& task) { return !has_status(task); });
  if (tasks_.empty()) {
    exit.error = "Slurm reported no task of this step";
  } else if (lost > 0) {
    exit.error = fmt::format("Slurm reported no end of {} of {} tasks", lost, tasks_.size());
  }
  if (!exit.error.empty()) return exit;
  const auto killed =
      std::ranges::find_if(tasks_, [](const SlurmTask& task) { return task.signal.has_value(); });
  if (killed != tasks_.end()) {
    exit.signal = killed->signal;
    return exit;
  }
  exit.code = 0;
  for (const SlurmTask& task : tasks_) exit.code = std::max(*exit.code, task.code.value_or(0));
  return exit;
}

}  // namespace wattle::app
