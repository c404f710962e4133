// Foreign text made safe for a page: the one place where that is done.
#pragma once

#include <string>
#include <string_view>

namespace wattle::html {

/// `text` for the content of an element or for an attribute in double quotes. It is
/// made `printable`, so that a name shows as it is. Past `most_bytes` of input it ends in "...".
[[nodiscard]] std::string escaped(std::string_view text, std::size_t most_bytes = 4000);

}  // namespace wattle::html
