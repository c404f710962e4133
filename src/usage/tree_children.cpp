// How a tree reader finds the processes that are new in its tree.
#include <unistd.h>

#include <string_view>
#include <utility>
#include <vector>

#include "base/file.hpp"
#include "usage/process_list.hpp"
#include "usage/tree_reader.hpp"

namespace wattle {

void TreeReader::find_children() {
  if (scans_) {
    scan();
    return;
  }
  // Grandchildren are appended, and so looked at in the same tick: the vector grows meanwhile.
  // NOLINTNEXTLINE(modernize-loop-convert)
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    meet(watched_[i].children);
    if (std::exchange(watched_[i].lists_threads, false) && watched_[i].threads > 1) {
      find_children_of_threads(watched_[i].pid);
    }
  }
  if (options_.adopter) meet(adopted_);
}

void TreeReader::meet(const KeptFile& children) {
  meet_all([&] { return children.read(text_); });
}

/// `read` fills `text_`, which grows until the list fits; what is cut off even then would end in
/// the begin of a number.
template <class Read>
void TreeReader::meet_all(Read read) {
  ssize_t count = read();
  while (count == static_cast<ssize_t>(text_.size()) && text_.size() < kMaxFileBytes) {
    text_.resize(2 * text_.size());
    count = read();
  }
  if (count <= 0) return;
  std::string_view list(text_.data(), static_cast<std::size_t>(count));
  if (list.size() == text_.size()) list = list.substr(0, list.rfind(' ') + 1);
  meet(list);
}

void TreeReader::find_children_of_threads(pid_t pid) {
  // A child belongs to the thread that made it. The first thread's are known already.
  for (const pid_t thread : threads_of(procfs_, pid)) {
    if (thread == pid) continue;
    const Fd fd = procfs_.open_children(pid, thread);
    if (fd) meet_all([&] { return read_pieces(fd.get(), text_); });
  }
}

void TreeReader::meet(std::string_view children) {
  while (!children.empty()) {
    const auto pid = parse_pid(take_word(children));
    if (!pid) continue;
    if (places_.contains(*pid) || options_.strangers.contains(*pid) || is_self(*pid)) continue;
    if (const auto stat = stat_of(*pid)) watch(*stat, stat->start_time < began_ticks_);
  }
}

bool TreeReader::is_self(pid_t pid) const noexcept { return procfs_.is_own() && pid == ::getpid(); }

void TreeReader::scan() {
  std::vector<ProcessStat> others;
  for (const pid_t pid : processes_of(procfs_)) {
    if (places_.contains(pid) || options_.strangers.contains(pid) || is_self(pid)) continue;
    if (auto stat = stat_of(pid)) others.push_back(std::move(*stat));
  }
  // Children can stand before their parents.
  const auto belongs = [&](const ProcessStat& stat) {
    if (!places_.contains(stat.parent) && stat.parent != options_.adopter) return false;
    watch(stat, stat.start_time < began_ticks_);
    return true;
  };
  while (std::erase_if(others, belongs) > 0) {
  }
}

}  // namespace wattle
