// The table of hardware interfaces. A new one is one folder and one line in providers.cpp.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sensors/gpu_selection.hpp"
#include "sensors/sensor.hpp"

namespace wattle {

/// In the order in which they are preferred for a domain that several of them show.
[[nodiscard]] std::span<const Provider> providers() noexcept;

/// All kinds that the interfaces to `kind` show, and `kind`: the same hardware.
[[nodiscard]] DomainKinds shown_with(DomainKind kind) noexcept;

/// The kinds that power monitors, trackers and daemons read. Others are shown on request only.
inline constexpr DomainKinds kProcessorAndGpuKinds =
    DomainKinds::of({DomainCategory::cpu, DomainCategory::platform, DomainCategory::gpu});

/// Each domain is read through one provider; of what is refused, only what matters is reported
/// (`worth_reporting`). Providers that show none of the kinds `wanted` are not asked: a GPU's
/// driver may take two seconds.
[[nodiscard]] Survey survey(const System& system, const TimeSource& clock,
                            DomainKinds wanted = kProcessorKinds);

/// The kinds to search for, and which GPUs are selected.
struct SensorChoice {
  DomainKinds kinds = DomainKinds::all();
  GpuSelection gpus{};
  std::string_view who;  ///< starts the messages: "--gpus"
  AbsentGpu absent = AbsentGpu::fails;
};

/// The same of what is chosen: `keep_selected` of the GPUs. If none is selected, no driver of a
/// GPU is asked. Throws as `keep_selected`.
[[nodiscard]] Survey survey_chosen(const System& system, const TimeSource& clock,
                                   const SensorChoice& choice);

/// The offers of each provider if asked alone, in the order of `providers`: a domain can be in
/// several of them, and everything that is refused is reported.
[[nodiscard]] std::vector<Survey> survey_each(const System& system, const TimeSource& clock);

/// The domains of a survey whose energy can be measured, in order, each once.
[[nodiscard]] std::vector<Domain> domains_of(const Survey& survey);

}  // namespace wattle
