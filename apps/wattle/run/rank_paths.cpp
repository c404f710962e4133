#include "run/rank_paths.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "base/files/file_system.hpp"
#include "base/files/whole_file.hpp"
#include "base/text/text.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

/// False where it is not known.
bool is_written_to_network(const std::string& path) {
  const auto folder = std::filesystem::path(resolved_output_path(path)).parent_path();
  return is_on_network(folder.empty() ? "." : folder);
}

bool has_placeholder(std::string_view path, char letter) noexcept {
  for (std::size_t at = path.find('%'); at != std::string_view::npos && at + 1 < path.size();
       at = path.find('%', at + 2)) {
    if (path[at + 1] == letter) return true;
  }
  return false;
}

/// True if more than one is known: rank 1 means that there is a rank 0 too.
bool are_several(const std::optional<unsigned>& size,
                 const std::optional<unsigned>& rank) noexcept {
  return size.value_or(1) > 1 || rank.value_or(0) > 0;
}

}  // namespace

bool is_shared_by_ranks(std::string_view path, const Job& job, bool on_every_machine) noexcept {
  if (has_placeholder(path, 'r') || has_placeholder(path, 'p')) return false;
  if (are_several(job.local_size, job.local_rank)) return true;
  return on_every_machine && !has_placeholder(path, 'h') && are_several(job.size, job.rank);
}

void require_own_folder(std::string_view what, std::string_view path, const std::string& expanded,
                        const Job& job) {
  if (!is_shared_by_ranks(path, job, is_written_to_network(expanded))) return;
  throw InvalidArgument(
      fmt::format("{} names one folder for several ranks: {}; put %r, the rank, into the name",
                  what, printable(path)));
}

void require_own_file(std::string_view what, std::string_view path, const std::string& expanded,
                      const Job& job) {
  struct stat status {};
  if (::stat(expanded.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return;
  if (!is_shared_by_ranks(path, job, is_written_to_network(expanded))) return;
  throw InvalidArgument(
      fmt::format("{} names one file for several ranks: {}; put %r, the rank, into the name", what,
                  printable(path)));
}

}  // namespace wattle::app
