#include "fakes/process_files.hpp"

#include <unistd.h>

#include <filesystem>

namespace wattle::fakes {

void ProcessFiles::put(const FakeProcess& process) const {
  const auto text = [](std::uint64_t number) { return std::to_string(number); };
  const auto pages = [&](std::uint64_t kib) {
    return text(kib * 1024 / static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
  };
  const std::string folder = std::to_string(process.pid);
  // proc(5) counts the fields.
  folder_.write(folder + "/stat",
                folder + " (" + process.name + ") " + process.state + " " +
                    std::to_string(process.parent) + " 1 1 0 -1 4194560 " +
                    text(process.minor_faults) + " " + text(process.waited_minor_faults) + " " +
                    text(process.major_faults) + " " + text(process.waited_major_faults) + " " +
                    text(process.user) + " " + text(process.system) + " " +
                    text(process.waited_user) + " " + text(process.waited_system) + " 20 0 " +
                    text(process.threads) + " 0 " + text(process.start_time) + " " +
                    text(process.address_bytes) + " " + pages(process.rss_kib) +
                    " 18446744073709551615\n");
  folder_.write(folder + "/statm",
                "9999 " + pages(process.rss_kib) + " " + pages(process.shared_kib) + " 1 0 1 0\n");
  folder_.write(folder + "/status", "Name:\t" + process.name + "\nVmHWM:\t " +
                                        text(process.peak_kib) + " kB\nvoluntary_ctxt_switches:\t" +
                                        text(process.switches) + "\nnonvoluntary_ctxt_switches:\t" +
                                        text(2 * process.switches) + "\n");
  if (process.has_io) {
    const std::uint64_t io = process.io_bytes;
    folder_.write(folder + "/io", "rchar: " + text(io) + "\nwchar: " + text(10 * io) +
                                      "\nsyscr: 1\nsyscw: 1\nread_bytes: " + text(2 * io) +
                                      "\nwrite_bytes: " + text(3 * io) +
                                      "\ncancelled_write_bytes: 0\n");
  }
  std::string rollup;
  if (process.pss_kib > 0) {
    rollup =
        "5581-7ffd ---p 00000000 00:00 0 [rollup]\nRss: " + text(process.rss_kib) +
        " kB\nPss: " + text(process.pss_kib) +
        " kB\nPss_Dirty: 1 kB\nPrivate_Clean: 0 kB\nPrivate_Dirty: " + text(process.private_kib) +
        " kB\n";
  }
  folder_.write(folder + "/smaps_rollup", rollup);
  if (!lists_children_) return;
  std::string children;
  for (const int child : process.children) children += std::to_string(child) + " ";
  folder_.write(folder + "/task/" + folder + "/children", children);
}

void ProcessFiles::take(int pid) const {
  // What is still open of a process that is gone gives nothing; here it would give the old text.
  std::filesystem::remove_all(folder_.path() / std::to_string(pid));
}

System ProcessFiles::system() const {
  System system;
  system.daemon_socket.clear();
  system.procfs = folder_.path();
  return system;
}

}  // namespace wattle::fakes
