#include "step/step_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

constexpr std::string_view kEnd = ".json";

std::string start_of(const StepPlace& place) { return fmt::format("job-{}.step-", place.job); }

std::string restart_part(unsigned restarts) {
  return restarts == 0 ? "" : fmt::format(".restart-{}", restarts);
}

bool is_of(const std::string& name, const StepPlace& place) {
  if (place.step.empty()) return name.starts_with(start_of(place)) && name.ends_with(kEnd);
  if (!name.starts_with(fmt::format("{}{}.node-", start_of(place), place.step))) return false;
  if (place.restarts > 0) return name.ends_with(restart_part(place.restarts) + std::string(kEnd));
  return name.ends_with(kEnd) && name.find(".restart-") == std::string::npos;
}

}  // namespace

void check_step_word(std::string_view option, std::string_view word) {
  constexpr std::size_t kMostBytes = 255;
  const bool is_good =
      !word.empty() && word.size() <= kMostBytes &&
      (is_letter(word.front()) || is_digit(word.front())) && std::ranges::all_of(word, [](char c) {
        return is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '_' || c == '+';
      });
  if (is_good) return;
  throw InvalidArgument(fmt::format("{} takes letters, digits, '.', '-', '_' and '+', not '{}'",
                                    option, printable(word.substr(0, kMostBytes))));
}

std::string record_name(const StepPlace& place) {
  return fmt::format("{}{}.node-{}{}{}", start_of(place), place.step, place.node,
                     restart_part(place.restarts), kEnd);
}

std::vector<std::string> records_of(const std::filesystem::path& folder, const StepPlace& place) {
  std::vector<std::string> paths;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  const std::filesystem::directory_iterator end;
  for (; !error && entry != end; entry.increment(error)) {
    if (is_of(entry->path().filename().string(), place)) paths.push_back(entry->path().string());
  }
  std::ranges::sort(paths);
  return paths;
}

}  // namespace wattle::app
