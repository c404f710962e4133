#include "plugin_settings.hpp"

#include <charconv>

namespace wattle::slurm {
namespace {

bool set_text(std::string& into, std::string_view value) {
  if (value.empty()) return false;
  into = value;
  return true;
}

bool set_path(std::string& into, std::string_view value) {
  return value.starts_with('/') && set_text(into, value);
}

bool set_switch(bool& into, std::string_view value) noexcept {
  if (value != "yes" && value != "no") return false;
  into = value == "yes";
  return true;
}

bool set_time(std::chrono::milliseconds& into, std::string_view value) noexcept {
  constexpr int kMostMs = 60'000;
  int number = 0;
  const char* const end = value.data() + value.size();
  const auto [stopped, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc{} || stopped != end || number < 0 || number > kMostMs) return false;
  into = std::chrono::milliseconds(number);
  return true;
}

bool set(Settings& settings, std::string_view key, std::string_view value) {
  if (key == "default") {
    const auto choice = parse_choice(value);
    if (choice) settings.choice = *choice;
    return choice.has_value();
  }
  if (key == "program") return set_path(settings.program, value);
  if (key == "folder") return set_path(settings.folder, value);
  if (key == "interval") return set_text(settings.interval, value);
  if (key == "gpus") return set_text(settings.gpus, value);
  if (key == "history") return set_switch(settings.saves, value);
  if (key == "comment") return set_switch(settings.comments, value);
  if (key == "start_wait") return set_time(settings.start_wait, value);
  if (key == "end_wait") return set_time(settings.end_wait, value);
  return false;
}

}  // namespace

std::optional<Choice> parse_choice(std::string_view word) noexcept {
  if (word.empty() || word == "text") return Choice::text;
  if (word == "json") return Choice::json;
  if (word == "quiet") return Choice::quiet;
  if (word == "off") return Choice::off;
  return std::nullopt;
}

Settings parse_settings(int count, char** words, std::vector<std::string>& wrong) {
  Settings settings;
  for (int i = 0; i < count; ++i) {
    const std::string_view word = words[i];
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos ||
        !set(settings, word.substr(0, equals), word.substr(equals + 1))) {
      wrong.emplace_back(word);
    }
  }
  return settings;
}

}  // namespace wattle::slurm
