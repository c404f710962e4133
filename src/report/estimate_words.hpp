// Estimates and shares in words. Never where a measurement stands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/report.hpp"
#include "report/share.hpp"
#include "wattle/estimate.hpp"

namespace wattle {

/// Names the option that estimates, after the reason why there is no energy.
inline constexpr const char* kEstimateHint = "--estimate prints a range instead";

/// "~46 J (17 J to 210 J)".
[[nodiscard]] std::string range_text(const EnergyRange& range);
/// "~23 W (8.5 W to 105 W)".
[[nodiscard]] std::string range_text(Watts low, Watts typical, Watts high);
/// Lines; each has "not measured" or continues such a line. `whose`: the CPU time that
/// `estimate.own` is about.
[[nodiscard]] std::vector<std::string> words_of(const EnergyEstimate& estimate,
                                                std::string_view whose = "the command's");
/// `folded`: one line for all GPUs whose share has one basis, and no line about the idle power.
[[nodiscard]] std::vector<std::string> words_of(const EnergyShare& share,
                                                Detail detail = Detail::all);

}  // namespace wattle
