// SPANK plugin of Slurm: srun --wattle. In Slurm's step daemon it starts one `wattle step` for each
// step and node, and sends it what only the daemon knows of the tasks. In srun it prints the sum.
// Whatever fails, the job goes on: every function returns success.
#include <pwd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "measuring_process.hpp"
#include "plugin_settings.hpp"
#include "slurm_api.hpp"

#define WATTLE_SPANK extern "C" __attribute__((visibility("default")))

// As SPANK_PLUGIN, which in C++ would keep them inside of this file.
// NOLINTBEGIN(readability-identifier-naming): Slurm's names
WATTLE_SPANK const char plugin_name[];
WATTLE_SPANK const char plugin_type[];
WATTLE_SPANK const unsigned int plugin_version;
WATTLE_SPANK const unsigned int spank_plugin_version;
const char plugin_name[] = "wattle";
const char plugin_type[] = "spank";
const unsigned int plugin_version = SLURM_VERSION_NUMBER;
const unsigned int spank_plugin_version = 1;
// NOLINTEND(readability-identifier-naming)

namespace wattle::slurm {
namespace {

/// A step that srun started here.
struct LocalStep {
  std::uint32_t job = 0;
  std::uint32_t step = 0;
  std::uint32_t nodes = 1;
};

/// Of this process. Slurm calls its plugins from one thread at a time.
struct State {
  Settings settings{};
  Choice choice = Choice::off;
  bool is_chosen = false;  ///< --wattle was given
  MeasuringProcess process{};
  bool has_started_tasks = false;
  bool has_sent_gpus = false;
  bool has_sent_restarts = false;
  std::uint32_t tasks = 0;  ///< on this node
  std::uint32_t ended = 0;
  rusage before{};  ///< of the children that were waited for so far
  std::vector<LocalStep> steps{};
};

State& state() noexcept {
  static State the_state;
  return the_state;
}

template <class T>
T item(spank_t spank, spank_item_t what, T none) noexcept {
  T value = none;
  return spank_get_item(spank, what, &value) == ESPANK_SUCCESS ? value : none;
}

std::string variable(spank_t spank, const char* name) {
  std::array<char, 4096> value{};
  const auto got = spank_getenv(spank, name, value.data(), static_cast<int>(value.size() - 1));
  return got == ESPANK_SUCCESS ? value.data() : "";
}

template <class... Values>
void send(const char* format, const Values&... values) noexcept {
  std::array<char, 256> line{};
  const int size = std::snprintf(line.data(), line.size(), format, values...);
  if (size <= 0 || static_cast<std::size_t>(size) >= line.size()) return;
  state().process.send({line.data(), static_cast<std::size_t>(size)});
}

/// Calls `work`; what it throws ends here.
template <class Work>
int safely(const Work& work) noexcept {
  try {
    work();
  } catch (...) {
    slurm_error("wattle: no memory");
  }
  return ESPANK_SUCCESS;
}

int choose(int /*value*/, const char* word, int is_remote) noexcept {
  // Slurm gives an option without a value as "(null)" to the step daemon.
  std::string_view text = word != nullptr ? word : "";
  if (text == "(null)") text = {};
  const auto choice = parse_choice(text);
  if (!choice) {
    if (is_remote != 0) return ESPANK_SUCCESS;
    slurm_error("--wattle takes text, json, quiet or off");
    return -1;
  }
  state().choice = *choice;
  state().is_chosen = true;
  return ESPANK_SUCCESS;
}

Choice choice_made() noexcept {
  return state().is_chosen ? state().choice : state().settings.choice;
}

std::string step_name(std::uint32_t step) {
  if (step == SLURM_BATCH_SCRIPT) return "batch";
  if (step == SLURM_INTERACTIVE_STEP) return "interactive";
  return std::to_string(step);
}

/// The name of this machine in Slurm, by the step daemon's own variable. The job's may be that of
/// another node: the one on which the batch script runs.
std::string node_name() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the step daemon changes no variable of its own here
  if (const char* own = ::getenv("SLURMD_NODENAME"); own != nullptr && *own != '\0') return own;
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) return "unknown";
  host[std::strcspn(host.data(), ".")] = '\0';
  return host.data();
}

std::vector<std::string> words_of(spank_t spank, std::uint32_t job, std::uint32_t step) {
  constexpr std::uint32_t kNone = 0;
  const Settings& settings = state().settings;
  std::vector<std::string> words = {settings.program, "step",
                                    "--job",          std::to_string(job),
                                    "--step",         step_name(step),
                                    "--node",         node_name(),
                                    "--interval",     settings.interval,
                                    "--gpus",         settings.gpus,
                                    "--pid",          std::to_string(::getpid())};
  const auto add = [&](const char* option, std::string value) {
    words.emplace_back(option);
    words.push_back(std::move(value));
  };
  if (!settings.folder.empty()) add("--folder", settings.folder);
  const auto array = item<std::uint32_t>(spank, S_JOB_ARRAY_ID, kNone);
  const auto array_task = item<std::uint32_t>(spank, S_JOB_ARRAY_TASK_ID, NO_VAL);
  if (array > 0 && array < NO_VAL && array_task < NO_VAL) {
    add("--array", std::to_string(array) + "_" + std::to_string(array_task));
  }
  // As one word: a name may start with "-".
  const std::string name = variable(spank, "SLURM_JOB_NAME");
  if (!name.empty()) words.push_back("--name=" + name);
  if (settings.saves) words.emplace_back("--save");
  if (settings.comments && step == SLURM_BATCH_SCRIPT) words.emplace_back("--comment");
  int count = 0;
  char** command = nullptr;
  if (spank_get_item(spank, S_JOB_ARGV, &count, &command) == ESPANK_SUCCESS && count > 0) {
    constexpr int kMostWords = 256;
    words.emplace_back("--");
    for (int i = 0; i < count && i < kMostWords; ++i) words.emplace_back(command[i]);
  }
  return words;
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> starts) {
  return std::ranges::any_of(starts,
                             [&](std::string_view start) { return text.starts_with(start); });
}

/// Of the job's variables those that `wattle step` reads: it runs as the job's user.
std::vector<std::string> environment_of(spank_t spank, uid_t uid) {
  std::vector<std::string> found;
  bool has_home = false;
  char** all = nullptr;
  if (spank_get_item(spank, S_JOB_ENV, &all) == ESPANK_SUCCESS && all != nullptr) {
    for (; *all != nullptr; ++all) {
      const std::string_view one = *all;
      if (one.starts_with("WATTLE_RUN=")) continue;
      if (!starts_with_any(one, {"WATTLE_", "XDG_STATE_HOME=", "XDG_CONFIG_HOME=", "HOME=", "PATH=",
                                 "SLURM_CONF="})) {
        continue;
      }
      has_home = has_home || one.starts_with("HOME=");
      found.emplace_back(one);
    }
  }
  if (!has_home) {
    passwd entry{};
    passwd* result = nullptr;
    std::vector<char> buffer(16384);
    if (::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &result) == 0 &&
        result != nullptr) {
      found.push_back(std::string("HOME=") + entry.pw_dir);
    }
  }
  return found;
}

User user_of(spank_t spank) {
  constexpr auto kNobody = static_cast<uid_t>(-1);
  User user{.uid = item<uid_t>(spank, S_JOB_UID, kNobody),
            .gid = item<gid_t>(spank, S_JOB_GID, static_cast<gid_t>(-1))};
  gid_t* groups = nullptr;
  int count = 0;
  if (spank_get_item(spank, S_JOB_SUPPLEMENTARY_GIDS, &groups, &count) == ESPANK_SUCCESS &&
      groups != nullptr && count > 0) {
    user.groups.assign(groups, groups + count);
  }
  return user;
}

void start_measuring(spank_t spank) {
  const auto job = item<std::uint32_t>(spank, S_JOB_ID, NO_VAL);
  const auto step = item<std::uint32_t>(spank, S_JOB_STEPID, NO_VAL);
  if (job == NO_VAL || step == NO_VAL || step == SLURM_EXTERN_CONT) return;
  const User user = user_of(spank);
  // -1 leaves a user as it is: nothing runs as root by mistake.
  if (user.uid == static_cast<uid_t>(-1) || user.gid == static_cast<gid_t>(-1)) return;
  if (!state().process.start(words_of(spank, job, step), environment_of(spank, user.uid), user)) {
    slurm_error("wattle: this step is not measured: %s", ::strerrordesc_np(errno));
  }
}

/// Variables of the job that some steps have from the start, and others only when a task has ended.
void send_facts(spank_t spank) {
  State& now = state();
  if (!now.has_sent_restarts) {
    const std::string restarts = variable(spank, "SLURM_RESTART_COUNT");
    now.has_sent_restarts = !restarts.empty();
    if (now.has_sent_restarts) send("restarts %.16s\n", restarts.c_str());
  }
  if (now.has_sent_gpus) return;
  // The GPUs of the job on this node: their list, or else their number.
  const std::string list = variable(spank, "SLURM_JOB_GPUS");
  std::string number = variable(spank, "SLURM_GPUS_ON_NODE");
  if (!list.empty()) number = std::to_string(1 + std::ranges::count(list, ','));
  now.has_sent_gpus = !number.empty();
  if (now.has_sent_gpus) send("gpus %.16s\n", number.c_str());
}

void begin_task(spank_t spank) {
  State& now = state();
  if (!now.has_started_tasks) {
    now.has_started_tasks = true;
    now.tasks = item<std::uint32_t>(spank, S_JOB_LOCAL_TASK_COUNT, 0);
    ::getrusage(RUSAGE_CHILDREN, &now.before);
    rusage self{};
    ::getrusage(RUSAGE_SELF, &self);
    send("launcher %ld\n", self.ru_maxrss);
    now.process.wait_until_ready(now.settings.start_wait);
  }
  send_facts(spank);
  send("start %u\n", item<std::uint32_t>(spank, S_TASK_GLOBAL_ID, 0));
}

long long microseconds(const timeval& time) noexcept {
  return static_cast<long long>(time.tv_sec) * 1'000'000 + time.tv_usec;
}

void end_task(spank_t spank) {
  State& now = state();
  send_facts(spank);
  // The kernel's account of all children that were waited for has just grown by this task.
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  const rusage& before = now.before;
  std::array<char, 32> peak{"-"};  // of a smaller task than one before it is not known
  if (used.ru_maxrss > before.ru_maxrss) {
    (void)std::snprintf(peak.data(), peak.size(), "%ld", used.ru_maxrss);
  }
  send("exit %u %u %lld %lld %s %ld %ld %ld %ld\n", item<std::uint32_t>(spank, S_TASK_GLOBAL_ID, 0),
       static_cast<unsigned>(item<int>(spank, S_TASK_EXIT_STATUS, 0)),
       microseconds(used.ru_utime) - microseconds(before.ru_utime),
       microseconds(used.ru_stime) - microseconds(before.ru_stime), peak.data(),
       used.ru_minflt - before.ru_minflt, used.ru_majflt - before.ru_majflt,
       used.ru_nvcsw - before.ru_nvcsw, used.ru_nivcsw - before.ru_nivcsw);
  now.before = used;
  // The window ends here; the record is written while Slurm ends the step.
  if (++now.ended == now.tasks) now.process.send("end\n");
}

void log_lines(std::string_view text) {
  while (!text.empty()) {
    std::string line(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    // A user's program wrote it: nothing but text gets into the log of root's daemon.
    std::ranges::replace_if(
        line, [](unsigned char c) { return c < 0x20 || c == 0x7F; }, '?');
    if (!line.empty() && line != "ready") slurm_error("wattle: %s", line.c_str());
  }
}

void end_step() {
  State& now = state();
  if (!now.process.is_started()) return;
  const MeasuringProcess::Ending ending = now.process.end(now.settings.end_wait);
  log_lines(ending.text);
  if (ending.is_killed) slurm_error("wattle: not done in time, killed");
}

/// "2.000"; at least a millisecond.
std::string seconds_text(std::chrono::milliseconds time) {
  std::array<char, 32> text{};
  const long long ms = std::max<long long>(time.count(), 1);
  (void)std::snprintf(text.data(), text.size(), "%lld.%03lld", ms / 1000, ms % 1000);
  return text.data();
}

/// In srun, when the step has ended.
void print_sums() {
  State& now = state();
  const Choice choice = choice_made();
  if (choice != Choice::text && choice != Choice::json) return;
  for (const LocalStep& step : std::exchange(now.steps, {})) {
    std::vector<std::string> words = {now.settings.program,
                                      "step",
                                      "--sum",
                                      "--job",
                                      std::to_string(step.job),
                                      "--step",
                                      step_name(step.step),
                                      "--nodes",
                                      std::to_string(step.nodes),
                                      "--wait",
                                      seconds_text(now.settings.end_wait)};
    if (!now.settings.folder.empty()) words.insert(words.end(), {"--folder", now.settings.folder});
    // NOLINTNEXTLINE(concurrency-mt-unsafe): srun has ended its work
    if (const char* restarts = ::getenv("SLURM_RESTART_COUNT"); restarts != nullptr) {
      words.insert(words.end(), {"--restarts", restarts});
    }
    if (choice == Choice::json) words.emplace_back("--json");
    run_and_wait(words, now.settings.end_wait + std::chrono::milliseconds(500));
  }
}

spank_option option() {
  static std::array<char, 16> name{"wattle"};
  static std::array<char, 32> value{"text|json|quiet|off"};
  static std::array<char, 96> usage{
      "measure the energy of the step's nodes with Wattle, and print it (text)"};
  return {name.data(), value.data(), usage.data(), 2, 0, choose};
}

}  // namespace

WATTLE_SPANK int slurm_spank_init(spank_t spank, int count, char** words) {
  return safely([&] {
    const spank_context_t context = spank_context();
    if (context != S_CTX_LOCAL && context != S_CTX_REMOTE && context != S_CTX_ALLOCATOR) return;
    std::vector<std::string> wrong;
    state().settings = parse_settings(count, words, wrong);
    for (const std::string& word : wrong) {
      slurm_error("wattle: plugstack.conf: ignored: %s", word.c_str());
    }
    static spank_option the_option = option();
    (void)spank_option_register(spank, &the_option);
  });
}

WATTLE_SPANK int slurm_spank_init_post_opt(spank_t spank, int /*count*/, char** /*words*/) {
  return safely([&] {
    if (spank_context() == S_CTX_REMOTE && choice_made() != Choice::off) start_measuring(spank);
  });
}

WATTLE_SPANK int slurm_spank_local_user_init(spank_t spank, int /*count*/, char** /*words*/) {
  return safely([&] {
    const LocalStep step{.job = item<std::uint32_t>(spank, S_JOB_ID, NO_VAL),
                         .step = item<std::uint32_t>(spank, S_JOB_STEPID, NO_VAL),
                         .nodes = item<std::uint32_t>(spank, S_JOB_NNODES, 1)};
    if (step.job != NO_VAL && step.step != NO_VAL) state().steps.push_back(step);
  });
}

WATTLE_SPANK int slurm_spank_task_post_fork(spank_t spank, int /*count*/, char** /*words*/) {
  return safely([&] {
    if (state().process.is_started()) begin_task(spank);
  });
}

WATTLE_SPANK int slurm_spank_task_exit(spank_t spank, int /*count*/, char** /*words*/) {
  return safely([&] {
    if (state().process.is_started()) end_task(spank);
  });
}

WATTLE_SPANK int slurm_spank_exit(spank_t /*spank*/, int /*count*/, char** /*words*/) {
  return safely([&] {
    if (spank_context() == S_CTX_REMOTE) end_step();
    if (spank_context() == S_CTX_LOCAL) print_sums();
  });
}

}  // namespace wattle::slurm
