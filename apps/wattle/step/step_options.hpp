// The command line of `wattle step`.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "history/save_run.hpp"
#include "step/step_files.hpp"
#include "wattle/system.hpp"

namespace wattle::app {

struct StepOptions {
  System system;
  std::vector<std::string> command;  ///< of the step, for its record; may be empty
  StepPlace place;
  std::filesystem::path folder;  ///< of the records
  std::chrono::nanoseconds interval{0};
  std::string gpus = "all";                  ///< see `parse_gpus`
  std::optional<unsigned> allocated_gpus{};  ///< that the job has on this machine
  pid_t pid = 0;                             ///< whose descendants are the step's; 0: unknown
  std::string job_name;                      ///< becomes a tag; may hold anything
  std::string array;                         ///< "70_3"; empty: none
  SaveOptions saving{};
  bool comments = false;  ///< the job's sum becomes its comment in Slurm
  bool sums = false;      ///< --sum: reports the job's or the step's records, and measures nothing
  bool json = false;
  std::size_t nodes = 0;             ///< whose records a sum waits for
  std::chrono::nanoseconds wait{0};  ///< at most
};

int execute(const StepOptions& options);

}  // namespace wattle::app
