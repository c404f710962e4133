// The configuration file of the command.
#include "cli/settings.hpp"

#include "check.hpp"
#include "wattle/error.hpp"

FUZZ_TARGET(settings)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  const std::string_view text = fuzz::text_of(data, size);
  const auto nothing = [](const char*) -> const char* { return nullptr; };
  const app::Settings settings = app::parse_settings(text, "config", nothing);
  for (const std::string& problem : settings.problems) {
    fuzz::require(fuzz::is_clean(problem), "a problem is clean");
  }
  try {
    const std::string changed = app::with_setting(text, "save", "yes");
    fuzz::require(app::parse_settings(changed, "config", nothing).save, "what is set is read");
    fuzz::require(app::with_setting(changed, "save", "yes") == changed, "and set once");
  } catch (const InvalidArgument& error) {
    fuzz::require(fuzz::is_clean(error.what()), "a refusal is clean");
  }
  return 0;
}
