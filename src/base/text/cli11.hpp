// The types of CLI11, for headers that only name them: the library is slow to parse.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
class Option;
}  // namespace CLI
