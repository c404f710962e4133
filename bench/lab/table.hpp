// The lab's results as text for a terminal.
#pragma once

#include <string>

#include "lab/results.hpp"

namespace wattle::lab {

[[nodiscard]] std::string table_of(const Results& results);

}  // namespace wattle::lab
