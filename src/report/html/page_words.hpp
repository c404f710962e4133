// Texts that all kinds of pages share.
#pragma once

#include <string>
#include <vector>

#include "report/html/page.hpp"

namespace wattle::html {

/// "2025-11-21 02:00:02 UTC"; empty for a time that no clock shows.
[[nodiscard]] std::string utc_text(double unix_s);

/// "host n1 · AMD EPYC 7763 · 2025-11-21 02:00:02 UTC": those parts that are not empty.
[[nodiscard]] std::string subtitle_of(const std::vector<std::string>& parts);

/// As `words_of` makes them for a terminal: there those that continue one are indented; on a page
/// the block sets them apart.
[[nodiscard]] Estimates estimates_of(std::vector<std::string> lines);

}  // namespace wattle::html
