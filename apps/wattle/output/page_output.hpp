// --html of sub-commands whose result is a text on stdout.
#pragma once

#include <functional>
#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}

namespace wattle::app {

void add_html(CLI::App& app, std::string& path);

/// Throws `InvalidArgument` if JSON and a page would both go to stdout. `path`: empty, no page.
void check_page_path(const std::string& path, bool is_json);

/// The text to stdout, and what `page` returns to the file; a page on stdout takes the place of the
/// text. Throws as `Output`.
void write_result(const std::string& text, const std::string& page_path,
                  const std::function<std::string()>& page);

}  // namespace wattle::app
