// The keys of those parts of a run's JSON that reports of saved runs read again.
#pragma once

#include <tuple>

#include "base/json/json_fields.hpp"
#include "report/report.hpp"

namespace wattle {

template <>
inline constexpr auto kFields<Exit> = std::tuple(
    Field("started", &Exit::started), Field("code", &Exit::code), Field("signal", &Exit::signal),
    Field("core_dumped", &Exit::core_dumped), Field("error", &Exit::error));

template <>
inline constexpr auto kFields<SlurmTask> =
    std::tuple(Field("rank", &SlurmTask::rank), Field("code", &SlurmTask::code),
               Field("signal", &SlurmTask::signal), Field("cpu_user_s", &SlurmTask::cpu_user),
               Field("cpu_system_s", &SlurmTask::cpu_system),
               Field("peak_rss_bytes", &SlurmTask::peak_rss_bytes),
               Field("started_unix_s", &SlurmTask::started_unix_s),
               Field("ended_unix_s", &SlurmTask::ended_unix_s));

template <>
inline constexpr auto kFields<SlurmJob> =
    std::tuple(Field("job_id", &SlurmJob::job_id), Field("step_id", &SlurmJob::step_id),
               Field("rank", &SlurmJob::rank), Field("local_rank", &SlurmJob::local_rank),
               Field("gpus", &SlurmJob::gpus), Field("tasks", &SlurmJob::tasks));

template <>
inline constexpr auto kFields<Rank> =
    std::tuple(Field("rank", &Rank::rank), Field("local_rank", &Rank::local_rank),
               Field("size", &Rank::size), Field("local_size", &Rank::local_size));

}  // namespace wattle
