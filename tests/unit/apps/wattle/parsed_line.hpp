// Command lines, as the program parses them.
#pragma once

#include <gtest/gtest.h>

#include <any>
#include <utility>
#include <variant>
#include <vector>

#include "cli/command_line.hpp"

namespace wattle::app {

/// `words`: after the name of the program.
inline ParsedLine parse_words(std::vector<const char*> words) {
  words.insert(words.begin(), "wattle");
  return parse_command_line(static_cast<int>(words.size()), words.data());
}

/// Null if the line has other options, or none.
template <class Options>
const Options* options_in(const ParsedLine& parsed) {
  const auto* const chosen = std::get_if<Chosen>(&parsed);
  return chosen == nullptr ? nullptr : std::any_cast<Options>(&chosen->options);
}

/// The options, which the line must have.
template <class Options>
Options options_of(std::vector<const char*> words) {
  const ParsedLine parsed = parse_words(std::move(words));
  if (const auto* wrong = std::get_if<Answer>(&parsed)) ADD_FAILURE() << wrong->text;
  const auto* const options = options_in<Options>(parsed);
  EXPECT_NE(options, nullptr);
  return options == nullptr ? Options{} : *options;
}

/// The answer, which the line must get.
inline Answer answer_to(std::vector<const char*> words) {
  const ParsedLine parsed = parse_words(std::move(words));
  const auto* const answer = std::get_if<Answer>(&parsed);
  EXPECT_NE(answer, nullptr);
  return answer == nullptr ? Answer{} : *answer;
}

}  // namespace wattle::app
