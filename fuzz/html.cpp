// Foreign text in a page: it stays text, wherever it stands.
#include <algorithm>
#include <string>

#include "check.hpp"
#include "report/html/escape.hpp"
#include "report/html/page.hpp"

namespace {

using namespace wattle;        // NOLINT(google-build-using-namespace)
using namespace wattle::html;  // NOLINT(google-build-using-namespace)

std::string page_with(const std::string& text) {
  const PowerPlot power{.name = text,
                        .columns = {{.mean = Watts(5.0)}, {.mean = Watts(7.0)}},
                        .length = Seconds(2.0),
                        .column = Seconds(1.0),
                        .scale = {},
                        // Too narrow for its name, which would else depend on the text's length.
                        .stripes = {{text, Seconds(0.0), Seconds(0.001)}},
                        .summary = text};
  const DotPlot dots{.name = text,
                     .unit = text,
                     .rows = {{text, text, {1.0, 2.0}, 2, 1.5, std::pair(1.0, 2.0)}},
                     .line = 1.0,
                     .summary = text};
  return to_html({.title = text,
                  .subtitle = text,
                  .blocks = {Heading{text}, Paragraph{text}, Note{text}, Lines{{{text, true}}},
                             Estimates{{text}}, Facts{text, {{text, text}}},
                             Table{text, {{text}, {text, true}}, {{text, text}}},
                             Table{text, {{text}}, {{text}}, true}, Plots{{power, dots}}},
                  .footer = text},
                 {.style = "p{}", .script = "run()"});
}

/// What makes a page's elements and attributes.
std::string markup_in(const std::string& page) {
  std::string markup;
  std::ranges::copy_if(page, std::back_inserter(markup),
                       [](char letter) { return letter == '<' || letter == '>' || letter == '"'; });
  return markup;
}

}  // namespace

FUZZ_TARGET(html)(const unsigned char* data, std::size_t size) {
  const std::string text(fuzz::text_of(data, size));
  const std::string escaped_text = escaped(text);
  fuzz::require(escaped_text.find_first_of("<>\"'") == std::string::npos, "nothing is markup");
  fuzz::require(fuzz::is_clean(escaped_text), "no control characters");
  for (std::size_t at = escaped_text.find('&'); at != std::string::npos;
       at = escaped_text.find('&', at + 1)) {
    const std::string_view rest = std::string_view(escaped_text).substr(at);
    const bool is_entity = rest.starts_with("&amp;") || rest.starts_with("&lt;") ||
                           rest.starts_with("&gt;") || rest.starts_with("&quot;") ||
                           rest.starts_with("&#39;");
    fuzz::require(is_entity, "an & begins an entity");
  }
  static const std::string plain = markup_in(page_with("x"));
  fuzz::require(markup_in(page_with(text)) == plain, "text changes no element");
  return 0;
}
