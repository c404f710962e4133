// What a run answers to a program that asks for its energy.
#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"
#include "wattle/clock.hpp"

namespace wattle::app {

/// JSON `wattle.mark/1` on one line: the energy of the last `time`, since a mark or since the
/// start.
[[nodiscard]] std::string mark_reply(bool since_mark, Seconds time,
                                     const std::vector<DomainFigure>& domains);

}  // namespace wattle::app
