// One screen of `wattle top`: lines of text, from what was seen and what the user has chosen.
#pragma once

#include <string>
#include <vector>

#include "base/text/text_style.hpp"
#include "output/screen.hpp"
#include "top/device_table.hpp"
#include "top/observation.hpp"
#include "top/view.hpp"

namespace wattle::app {

struct TopFrame {
  std::vector<std::string> lines{};  ///< as many as the screen has, none wider than it
  TopHits hits{};
};

/// A pure function; from 1 column and 1 line on. `groups`: of `seen`, by what the view shows.
[[nodiscard]] TopFrame frame_of(const TopObservation& seen, GroupTable groups,
                                const PowerTrails& trails, const TopView& view, ScreenSize size,
                                const TextStyle& style);

}  // namespace wattle::app
