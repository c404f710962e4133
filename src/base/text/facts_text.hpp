// Lines of a label and a text, for people.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/text_style.hpp"

namespace wattle {

/// One line for each label and its text, such as "time" and "2.000 s". All texts start in one
/// column: two after the longest label, and at least the 15th. They go on there where they are
/// broken.
[[nodiscard]] std::string facts_text(const std::vector<std::pair<std::string, std::string>>& facts,
                                     const TextStyle& style);

/// `text`, whose lines are a label, a tab and a text. The texts start in one column: one after the
/// longest label, and at least the 20th; a label of more than 40 columns does not count. They go on
/// two columns further where they are broken. A line without a tab stays as it is.
[[nodiscard]] std::string labelled_lines(std::string_view text, const TextStyle& style);

}  // namespace wattle
