// The actions of `wattle history` and `wattle config`: the first word after the options.
#pragma once

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/nearest.hpp"
#include "base/text/text.hpp"
#include "wattle/error.hpp"

namespace wattle::app {

/// The first word of `words` as one of `known`. Throws `InvalidArgument`.
template <class Action, std::size_t N>
Action action_of(const std::vector<std::string>& words,
                 const std::array<std::pair<std::string_view, Action>, N>& known) {
  std::vector<std::string> names;
  for (const auto& [name, action] : known) {
    if (words.front() == name) return action;
    names.emplace_back(name);
  }
  throw InvalidArgument(fmt::format("unknown action {}{}", shell_quoted(words.front()),
                                    did_you_mean(words.front(), names)));
}

}  // namespace wattle::app
