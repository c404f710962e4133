// What a browser would make of a page, as far as tests need it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace wattle::testing_support {

/// What keeps `html` from being well-formed: a tag that is not closed or closes nothing, an
/// attribute without quotes, a bare "<" or "&", a control character. Empty: nothing. The content of
/// <style> and <script> counts as text without tags.
[[nodiscard]] std::string markup_fault(std::string_view html);

/// How often `part` occurs in `text`.
[[nodiscard]] std::size_t count_of(std::string_view text, std::string_view part);

}  // namespace wattle::testing_support
