#include "report/html/page.hpp"

#include <fmt/format.h>

#include <map>

#include "report/html/content_hash.hpp"
#include "report/html/escape.hpp"
#include "report/html/figure.hpp"

namespace wattle::html {
namespace {

std::string cell(std::string_view element, const Table::Column& column, const std::string& text) {
  const bool is_head = element == "th";
  return fmt::format("<{}{}{}>{}</{}>", element, is_head ? " scope=\"col\"" : "",
                     column.is_number ? " class=\"number\"" : "", escaped(text), element);
}

std::string row_of(const Table& table, const std::vector<std::string>& cells) {
  std::string text = "<tr>";
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string& content = i < cells.size() ? cells[i] : std::string();
    text += i == 0 ? fmt::format("<th scope=\"row\">{}</th>", escaped(content))
                   : cell("td", table.columns[i], content);
  }
  return text + "</tr>\n";
}

/// Turns blocks into elements. Numbers the plots, and regions of one name.
class Renderer {
 public:
  std::string operator()(const Heading& heading) const {
    return fmt::format("<h2>{}</h2>\n", escaped(heading.text));
  }
  std::string operator()(const Paragraph& paragraph) const {
    return fmt::format("<p>{}</p>\n", escaped(paragraph.text));
  }
  std::string operator()(const Note& note) const {
    return fmt::format("<p class=\"note\">{}</p>\n", escaped(note.text));
  }
  std::string operator()(const Lines& lines) const {
    std::string items;
    for (const auto& [text, is_strong] : lines.lines) {
      items += is_strong ? fmt::format("<li><strong>{}</strong></li>\n", escaped(text))
                         : fmt::format("<li>{}</li>\n", escaped(text));
    }
    return fmt::format("<ul>\n{}</ul>\n", items);
  }
  std::string operator()(const Estimates& estimates) const {
    std::string lines;
    for (const std::string& line : estimates.lines) {
      lines += fmt::format("<p>{}</p>\n", escaped(line));
    }
    return fmt::format("<div class=\"estimate\">\n{}</div>\n", lines);
  }
  std::string operator()(const Facts& facts) const {
    std::string rows;
    for (const auto& [name, text] : facts.rows) {
      rows += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escaped(name),
                          escaped(text));
    }
    return fmt::format(
        "<table class=\"facts\">\n<caption>{}</caption>\n<tbody>\n{}</tbody>\n</table>\n",
        escaped(facts.caption), rows);
  }
  std::string operator()(const Table& table) {
    std::string head;
    for (const Table::Column& column : table.columns) head += cell("th", column, column.title);
    std::string rows;
    for (const auto& row : table.rows) rows += row_of(table, row);
    // A wide table is scrolled by itself, by the keyboard too.
    std::string wide = fmt::format(
        "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n<table>\n"
        "<caption>{}</caption>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody>\n</table>\n</"
        "div>\n",
        escaped(region_name(table.caption)), escaped(table.caption), head, rows);
    if (!table.is_folded) return wide;
    return fmt::format("<details><summary>{}</summary>\n{}</details>\n", escaped(table.caption),
                       wide);
  }
  std::string operator()(const Plots& plots) {
    std::string text;
    for (const auto& plot : plots.plots) {
      const std::string id = fmt::format("plot-{}", ++plots_);
      text += std::visit([&](const auto& one) { return figure_of(one, id); }, plot);
    }
    return fmt::format("<div class=\"plots\">\n{}</div>\n", text);
  }

 private:
  /// Who moves from region to region by ear needs different names.
  std::string region_name(const std::string& caption) {
    const int number = ++regions_[caption];
    return number == 1 ? caption : fmt::format("{} ({})", caption, number);
  }

  int plots_ = 0;
  std::map<std::string, int> regions_;
};

/// Only what is in the page, and nothing from elsewhere.
std::string policy_of(const std::string& style, std::string_view script) {
  std::string policy =
      fmt::format("default-src 'none'; base-uri 'none'; form-action 'none'; style-src '{}'",
                  content_hash(style));
  if (!script.empty()) policy += fmt::format("; script-src '{}'", content_hash(script));
  return policy;
}

}  // namespace

std::string to_html(const Page& page, const Assets& assets) {
  const std::string style = fmt::format("{}{}", assets.style, assets.script_style);
  std::string body;
  Renderer renderer;
  for (const Block& block : page.blocks) body += std::visit(renderer, block);
  const std::string script =
      assets.script.empty() ? "" : fmt::format("<script>{}</script>\n", assets.script);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<header>\n<h1>{}</h1>\n"
      "<p class=\"subtitle\">{}</p>\n</header>\n<main>\n{}</main>\n<footer>\n<p>{}</p>\n</footer>\n"
      "{}</body>\n</html>\n",
      policy_of(style, assets.script), escaped(page.title, 200), style, escaped(page.title),
      escaped(page.subtitle), body, escaped(page.footer), script);
}

}  // namespace wattle::html
