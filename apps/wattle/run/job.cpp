#include "run/job.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <string>

#include "base/files/state_folder.hpp"
#include "base/files/whole_file.hpp"
#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "base/text/unknown.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

std::string value_of(const Environment& environment, const char* name) {
  const char* value = environment(name);
  return value != nullptr ? value : "";
}

std::optional<unsigned> first_number(const Environment& environment,
                                     std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto number = parse_unsigned<unsigned>(value_of(environment, name));
    if (number) return number;
  }
  return std::nullopt;
}

/// Slurm's list of tasks on each machine, "4(x2),3": those on the machine of this number.
std::optional<unsigned> tasks_on(std::string_view list, unsigned machine) {
  while (!list.empty()) {
    std::string_view part = take_until(list, ',');
    unsigned times = 1;
    if (const std::size_t mark = part.find("(x"); mark != std::string_view::npos) {
      if (!part.ends_with(')')) return std::nullopt;
      const std::string_view number = part.substr(mark + 2, part.size() - mark - 3);
      times = parse_unsigned<unsigned>(number).value_or(0);
      part = part.substr(0, mark);
    }
    if (machine < times) return parse_unsigned<unsigned>(part);
    machine -= times;
  }
  return std::nullopt;
}

std::optional<unsigned> slurm_tasks_here(const Environment& environment) {
  const auto machine = parse_unsigned<unsigned>(value_of(environment, "SLURM_NODEID"));
  if (!machine) return std::nullopt;
  return tasks_on(value_of(environment, "SLURM_STEP_TASKS_PER_NODE"), *machine);
}

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

Job read_job(const Environment& environment) {
  Job job;
  // Open MPI, MVAPICH2, Cray PALS, Intel MPI and MPICH (Hydra), then Slurm's own srun.
  job.rank = first_number(environment, {"OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK",
                                        "PALS_RANKID", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"});
  job.local_rank =
      first_number(environment, {"OMPI_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK",
                                 "PALS_LOCAL_RANKID", "MPI_LOCALRANKID", "SLURM_LOCALID"});
  // From Slurm only the size of a job step: a batch script is one process in a job of any size.
  job.size = first_number(environment, {"OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "PMI_SIZE",
                                        "SLURM_STEP_NUM_TASKS"});
  job.local_size = first_number(
      environment, {"OMPI_COMM_WORLD_LOCAL_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"});
  if (!job.local_size) job.local_size = slurm_tasks_here(environment);
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"}) {
    if (job.id.empty()) job.id = value_of(environment, name);
  }
  if (!value_of(environment, "SLURM_JOB_ID").empty()) {
    job.slurm = SlurmJob{.job_id = value_of(environment, "SLURM_JOB_ID"),
                         .step_id = value_of(environment, "SLURM_STEP_ID"),
                         .rank = value_of(environment, "SLURM_PROCID"),
                         .local_rank = value_of(environment, "SLURM_LOCALID")};
  }
  return job;
}

namespace {

/// A part of one file's name: a job's ID may hold anything.
std::string file_part(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '/' || byte < 0x20 || byte == 0x7F) c = '_';
  }
  return text == "." || text == ".." ? "_" : text;
}

}  // namespace

PathValues path_values(const Job& job, const std::string& host, int pid) {
  return {.host = file_part(host),
          .rank = std::to_string(job.rank.value_or(0)),
          .pid = std::to_string(pid),
          .job = job.id.empty() ? "none" : file_part(job.id)};
}

std::string host_name() {
  const std::string host = this_host();
  return host.empty() ? std::string(kUnknown) : host;
}

std::string expand_path(std::string_view path, const PathValues& values) {
  std::string expanded;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] != '%') {
      expanded += path[i];
      continue;
    }
    const char key = ++i < path.size() ? path[i] : '\0';
    switch (key) {
      case 'h':
        expanded += values.host;
        break;
      case 'r':
        expanded += values.rank;
        break;
      case 'p':
        expanded += values.pid;
        break;
      case 'j':
        expanded += values.job;
        break;
      case '%':
        expanded += '%';
        break;
      default:
        throw InvalidArgument(
            fmt::format("in the path {}: after % comes h, r, p, j or another %", printable(path)));
    }
  }
  return expanded;
}

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
