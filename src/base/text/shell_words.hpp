// A command as one types it, cut into words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wattle {

/// Words as a shell cuts them: blanks between, 'single' and "double" quotes, backslashes, comments
/// that start with `#`. Nothing is replaced, and no character but these means anything. Throws
/// `InvalidArgument` where a quote has no end. Threads: any.
[[nodiscard]] std::vector<std::string> split_words(std::string_view command);

}  // namespace wattle
