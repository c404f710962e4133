#include "report/html/figure.hpp"

#include <fmt/format.h>

#include "report/html/escape.hpp"

namespace wattle::html {

std::string text_of(const Figure& figure) {
  if (figure.drawing.empty()) {
    return fmt::format(
        "<figure>\n<figcaption>{}</figcaption>\n<p class=\"summary\">{}</p>\n</figure>\n",
        escaped(figure.name), escaped(figure.summary));
  }
  return fmt::format(
      "<figure {1}>\n"
      "<figcaption id=\"{0}-name\">{2}</figcaption>\n"
      "<svg class=\"drawing\" viewBox=\"0 0 {3} {4}\" role=\"img\" aria-labelledby=\"{0}-name "
      "{0}-text\">\n{5}</svg>\n<p class=\"summary\" id=\"{0}-text\">{6}</p>\n</figure>\n",
      figure.id, figure.attributes, escaped(figure.name), figure.width, figure.height,
      figure.drawing, escaped(figure.summary));
}

}  // namespace wattle::html
