// The records of a job's steps: one file for each step and node, in one folder.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace wattle::app {

/// A step on a node. Its texts are parts of a file's name: see `check_step_word`.
struct StepPlace {
  std::string job;
  std::string step;       ///< "0", "batch" ...
  std::string node;       ///< as Slurm names it
  unsigned restarts = 0;  ///< how often the job was requeued before
};

/// Throws `InvalidArgument`, which names `option`, unless `word` has at most 255 letters, digits,
/// ".", "-", "_" or "+", and starts with a letter or digit.
void check_step_word(std::string_view option, std::string_view word);

/// "job-77.step-0.node-n1.json", "job-77.step-0.node-n1.restart-2.json".
[[nodiscard]] std::string record_name(const StepPlace& place);

/// The paths of the records of a job, sorted. `step`: empty is every step; of one step only those
/// since the last requeue, whose number is `restarts`. A folder that cannot be read has none.
[[nodiscard]] std::vector<std::string> records_of(const std::filesystem::path& folder,
                                                  const StepPlace& place);

}  // namespace wattle::app
