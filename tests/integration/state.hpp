// What a program inherits from the one that starts it, as a text of one line for each thing.
#pragma once

#include <string>

/// Everything that must be the same with wattle in between and without.
[[nodiscard]] std::string inherited_state();
