// Texts compared with files that people have read and found right.
#pragma once

#include <string>
#include <string_view>

namespace wattle::testing_support {

/// Fails the test unless `text` is the content of tests/fixtures/golden/`name`. Where UPDATE_GOLDEN
/// is set in the environment, it writes that file instead: read the difference before it goes in.
void expect_golden(const std::string& name, std::string_view text);

}  // namespace wattle::testing_support
