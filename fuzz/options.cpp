// The command line: each line is a word of it.
#include <any>
#include <chrono>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/text/split.hpp"
#include "check.hpp"
#include "cli/command_line.hpp"
#include "cli/shared_options.hpp"
#include "run/run_options.hpp"
#include "sensors/gpu_selection.hpp"
#include "wattle/error.hpp"

namespace {

using namespace wattle;  // NOLINT(google-build-using-namespace): the program's own

void check(const app::ParsedLine& parsed) {
  if (const auto* answer = std::get_if<app::Answer>(&parsed)) {
    fuzz::require(answer->is_error == (answer->exit_status != 0), "errors have a status");
    std::string_view text = answer->text;
    while (!text.empty()) fuzz::require(fuzz::is_clean(take_line(text)), "answers are clean");
  }
  const auto* chosen = std::get_if<app::Chosen>(&parsed);
  if (chosen == nullptr) return;
  if (const auto* run = std::any_cast<app::RunOptions>(&chosen->options)) {
    fuzz::require(!run->command.empty(), "a run has a command");
    fuzz::require(run->interval >= std::chrono::milliseconds(1), "an interval is not too short");
    fuzz::require(run->interval <= std::chrono::hours(1), "an interval is not too long");
  }
}

}  // namespace

FUZZ_TARGET(options)(const unsigned char* data, std::size_t size) {
  std::string_view text = fuzz::text_of(data, size);
  std::vector<std::string> words = {"wattle"};
  while (!text.empty()) words.emplace_back(take_line(text));
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  check(app::parse_command_line(static_cast<int>(argv.size()), argv.data()));
  try {
    const auto interval = app::parse_interval(words.back());
    fuzz::require(interval >= std::chrono::milliseconds(1), "an interval is not too short");
  } catch (const InvalidArgument&) {
    // as it should be, for what is no interval
  }
  try {
    const auto visible = [&](const char* /*name*/) { return words.back().c_str(); };
    Survey none;
    keep_selected(GpuSelection::visible(), none, "", AbsentGpu::fails, visible);
    keep_selected(GpuSelection::parse(words.back()), none, "", AbsentGpu::fails, visible);
  } catch (const Error&) {
    return 0;
  }
  return 0;
}
