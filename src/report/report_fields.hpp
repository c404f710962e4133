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
inline constexpr auto kFields<SlurmJob> =
    std::tuple(Field("job_id", &SlurmJob::job_id), Field("step_id", &SlurmJob::step_id),
               Field("rank", &SlurmJob::rank), Field("local_rank", &SlurmJob::local_rank));

template <>
inline constexpr auto kFields<Rank> =
    std::tuple(Field("rank", &Rank::rank), Field("local_rank", &Rank::local_rank),
               Field("size", &Rank::size), Field("local_size", &Rank::local_size));

}  // namespace wattle
