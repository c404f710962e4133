// Numbers on the command line of the labs.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>

#include "base/text/parse.hpp"

namespace wattle::lab {

/// The word at `place`, a number from 1; `otherwise` if there are fewer words. Throws
/// `std::invalid_argument` for any other word.
[[nodiscard]] inline std::size_t trials_argument(std::span<const std::string> words,
                                                 std::size_t place, std::size_t otherwise) {
  if (place >= words.size()) return otherwise;
  const auto number = parse_unsigned<std::size_t>(words[place]);
  if (!number || *number == 0) {
    throw std::invalid_argument("'" + words[place] + "' is not a number from 1");
  }
  return *number;
}

}  // namespace wattle::lab
