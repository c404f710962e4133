// Texts compared with files that people have read and found right.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/text/text_style.hpp"

namespace wattle::testing_support {

/// Fails the test unless `text` is the content of tests/fixtures/golden/`name`. Where UPDATE_GOLDEN
/// is set in the environment, it writes that file instead: read the difference before it goes in.
void expect_golden(const std::string& name, std::string_view text);

/// The same for a text on terminals of 60, 80 and 120 columns, with and without colours, in UTF-8
/// and in ASCII: all of them in one file, with \e for the escape character. Fails also where a line
/// is wider than its terminal, or not in its characters.
void expect_looks(const std::string& name,
                  const std::function<std::string(const TextStyle&)>& text);

}  // namespace wattle::testing_support
