// The comment of a job in Slurm.
#pragma once

#include <chrono>
#include <string>

namespace wattle::app {

/// Runs "scontrol update JobId=JOB Comment=TEXT", which the user of the job may, for at most
/// `limit`. Returns why it failed; empty if it did not. `job`: checked by `check_step_word`.
[[nodiscard]] std::string set_job_comment(const std::string& job, const std::string& text,
                                          std::chrono::milliseconds limit);

}  // namespace wattle::app
