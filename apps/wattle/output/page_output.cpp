#include "output/page_output.hpp"

#include <CLI/CLI.hpp>
#include <optional>

#include "cli/value_option.hpp"
#include "monitor/track_options.hpp"
#include "output/output.hpp"
#include "wattle/error.hpp"

namespace wattle::app {

void add_html(CLI::App& app, std::string& path) {
  add_value(app, "--html", path, "FILE",
            "Write the result as a page for a browser to FILE (-: stdout)");
}

void check_page_path(const std::string& path, bool is_json) {
  if (is_json && is_stdout(path)) {
    throw InvalidArgument("--json and --html - both write to stdout: give --html a file");
  }
}

void write_result(const std::string& text, const std::string& page_path,
                  const std::function<std::string()>& page) {
  std::optional<Output> file;
  if (!page_path.empty()) file = Output::open(page_path, false);
  if (!is_stdout(page_path)) Output::open("-", false).write(text);
  if (file) file->write(page());
}

}  // namespace wattle::app
