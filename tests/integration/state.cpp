#include "state.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to us

namespace {

void add(std::string& text, std::string_view name, const std::string& value) {
  text += std::string(name) + ": " + value + "\n";
}

void add_signals_and_rights(std::string& text) {
  constexpr std::array<std::string_view, 14> kKeys = {
      "SigBlk", "SigIgn", "Uid",    "Gid",   "Groups",     "CapInh",  "CapPrm",
      "CapEff", "CapBnd", "CapAmb", "Umask", "NoNewPrivs", "Seccomp", "Cpus_allowed_list"};
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    const std::string key = line.substr(0, line.find(':'));
    if (std::ranges::find(kKeys, key) != kKeys.end()) text += line + "\n";
  }
}

/// The first device number of /proc/self/stat: 0 without a controlling terminal.
std::string terminal() {
  std::ifstream file("/proc/self/stat");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  std::size_t at = text.rfind(") ") + 2;
  for (int field = 0; field < 4; ++field) at = text.find(' ', at) + 1;  // state ppid pgrp session
  return text.substr(at, text.find(' ', at) - at);
}

void add_limits(std::string& text) {
  for (int resource = 0; resource < RLIM_NLIMITS; ++resource) {
    rlimit limit{};
    ::getrlimit(static_cast<__rlimit_resource>(resource), &limit);
    add(text, "limit " + std::to_string(resource),
        std::to_string(limit.rlim_cur) + " " + std::to_string(limit.rlim_max));
  }
}

void add_process_settings(std::string& text) {
  int death_signal = 0;
  int is_subreaper = 0;
  ::prctl(PR_GET_PDEATHSIG, &death_signal);
  ::prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper);
  add(text, "parent death signal", std::to_string(death_signal));
  add(text, "subreaper", std::to_string(is_subreaper));
  add(text, "dumpable", std::to_string(::prctl(PR_GET_DUMPABLE)));
  add(text, "keep capabilities", std::to_string(::prctl(PR_GET_KEEPCAPS)));
  add(text, "timer slack", std::to_string(::prctl(PR_GET_TIMERSLACK)));
}

}  // namespace

std::string inherited_state() {
  std::string text;
  add(text, "folder", std::filesystem::current_path());
  add(text, "nice", std::to_string(::getpriority(PRIO_PROCESS, 0)));
  add(text, "process group", std::to_string(::getpgrp()));
  add(text, "session", std::to_string(::getsid(0)));
  add(text, "terminal", terminal());
  for (int fd = 0; fd < 3; ++fd) {
    add(text, "flags of " + std::to_string(fd), std::to_string(::fcntl(fd, F_GETFL)));
  }
  add_signals_and_rights(text);
  add_limits(text);
  add_process_settings(text);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    // The one variable that `wattle run` sets.
    if (!std::string_view(*entry).starts_with("WATTLE_RUN=")) add(text, "variable", *entry);
  }
  return text;
}
