#include "usage/tree/process_tree.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>

#include "base/files/fd.hpp"
#include "base/files/file.hpp"
#include "usage/process/process.hpp"

namespace wattle {

Kinship kinship_of(pid_t pid, pid_t command) {
  if (pid == command) return Kinship::main;
  const pid_t self = ::getpid();
  constexpr int kDeepest = 1000;
  for (int depth = 0; depth < kDeepest && pid > 1; ++depth) {
    if (pid == command) return Kinship::descendant;
    const auto text = read_file("/proc/" + std::to_string(pid) + "/stat");
    const auto process = text ? parse_process_stat(*text) : std::nullopt;
    if (!process) return Kinship::unknown;
    if (process->parent == self) return Kinship::descendant;
    pid = process->parent;
  }
  return Kinship::stranger;
}

bool sees_machine_pids() {
  // The first PID namespace has a number of its own: PROC_PID_INIT_INO of linux/proc_ns.h.
  constexpr std::string_view kFirst = "pid:[4026531836]";
  std::array<char, 64> text{};
  const ssize_t length = ::readlink("/proc/self/ns/pid", text.data(), text.size());
  return length > 0 && std::string_view(text.data(), static_cast<std::size_t>(length)) == kFirst;
}

bool sees_files_of_all(const std::filesystem::path& procfs) {
  const std::string folder = (procfs / "1" / "fd").string();  // root's
  const Fd files(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (files) return true;
  // Mounted with hidepid, a real /proc does not even show process 1.
  return errno == ENOENT && ::access((procfs / "self").c_str(), F_OK) != 0;
}

}  // namespace wattle
