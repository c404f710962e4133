#include "report/html/page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "markup.hpp"
#include "report/html/content_hash.hpp"

namespace wattle::html {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing_support::count_of;
using testing_support::markup_fault;

const std::string kHostile = "</title></style></script><script>alert(1)</script>\"'&\x01\xff";

Page hostile_page() {
  const PowerPlot plot{.name = kHostile,
                       .columns = {{.mean = Watts(5.0)}, {.mean = Watts(7.0)}},
                       .length = Seconds(2.0),
                       .column = Seconds(1.0),
                       .scale = {},
                       .stripes = {{kHostile, Seconds(0.0), Seconds(2.0)}},
                       .summary = kHostile};
  const DotPlot dots{.name = kHostile,
                     .unit = kHostile,
                     .rows = {{kHostile, kHostile, {1.0, 2.0}, 2, 1.5, std::pair(1.0, 2.0)}},
                     .line = 1.0,
                     .summary = kHostile};
  return {.title = kHostile,
          .subtitle = kHostile,
          .blocks = {Heading{kHostile}, Paragraph{kHostile}, Note{kHostile},
                     Lines{{{kHostile, true}, {kHostile}}}, Estimates{{kHostile}},
                     Facts{kHostile, {{kHostile, kHostile}}},
                     Table{kHostile, {{kHostile}, {kHostile, true}}, {{kHostile, kHostile}}},
                     Plots{{plot, dots}}},
          .footer = kHostile};
}

TEST(HtmlPage, ShowsForeignTextAsText) {
  const std::string html = to_html(hostile_page(), {.style = "p{}", .script = "run()"});
  EXPECT_EQ(markup_fault(html), "");
  EXPECT_EQ(count_of(html, "<script"), 1U) << "its own";
  EXPECT_EQ(count_of(html, "</title>"), 1U);
  EXPECT_EQ(count_of(html, "\xff"), 0U);
}

TEST(HtmlPage, AllowsItsOwnStyleAndScriptAlone) {
  const std::string html = to_html({.title = "t", .subtitle = {}, .blocks = {}, .footer = {}},
                                   {.style = "p{}", .script = "run()", .script_style = "b{}"});
  EXPECT_THAT(
      html, HasSubstr("content=\"default-src 'none'; base-uri 'none'; form-action 'none'; "
                      "style-src '" +
                      content_hash("p{}b{}") + "'; script-src '" + content_hash("run()") + "'\""));
  EXPECT_THAT(html, HasSubstr("<style>p{}b{}</style>"));
  EXPECT_THAT(html, HasSubstr("<script>run()</script>"));
}

TEST(HtmlPage, WithoutAScriptAllowsNone) {
  const std::string html =
      to_html({.title = "t", .subtitle = {}, .blocks = {}, .footer = {}}, {.style = "p{}"});
  EXPECT_THAT(html, Not(HasSubstr("script")));
}

TEST(HtmlPage, AsksForNothing) {
  const std::string html = to_html(hostile_page());
  for (const char* reference : {" src=", "href=", "url(", "@import", "http-equiv=\"refresh\""}) {
    EXPECT_THAT(html, Not(HasSubstr(reference)));
  }
  EXPECT_EQ(markup_fault(html), "");
}

TEST(HtmlPage, HasTheLicenceOfWhatIsBundled) {
  const Assets assets = built_in_assets();
  if (assets.script.empty()) GTEST_SKIP() << "built without npm";
  const std::string html = to_html({.title = "t", .subtitle = {}, .blocks = {}, .footer = {}});
  EXPECT_THAT(html, HasSubstr("Copyright (c) 2022 Leon Sorokin"));
  EXPECT_EQ(count_of(assets.script, "</script"), 0U);
}

TEST(HtmlPage, NamesEachTableApart) {
  const Table table{.caption = "Runs", .columns = {{"a"}}, .rows = {}};
  const std::string html =
      to_html({.title = "t", .subtitle = {}, .blocks = {table, table}, .footer = {}}, {});
  EXPECT_EQ(count_of(html, "aria-label=\"Runs\""), 1U);
  EXPECT_EQ(count_of(html, "aria-label=\"Runs (2)\""), 1U);
}

TEST(HtmlPage, FillsShortRows) {
  const Table table{.caption = "c", .columns = {{"a"}, {"b"}, {"c"}}, .rows = {{"1"}}};
  const std::string html =
      to_html({.title = "t", .subtitle = {}, .blocks = {table}, .footer = {}}, {});
  EXPECT_THAT(html, HasSubstr("<tr><th scope=\"row\">1</th><td></td><td></td></tr>"));
}

}  // namespace
}  // namespace wattle::html
