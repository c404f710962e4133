# cmake -DOUTPUT=FILE -DSTYLE=FILE -DSCRIPT=FILE|"" -DSCRIPT_STYLE=FILE|"" -P embed.cmake
# Writes a C++ file that holds what the HTML pages have besides their content.

function(wattle_bytes name file)
  set(bytes "")
  if(file)
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
    string(REGEX REPLACE "('[^']*',){16}" "\\0\n    " bytes "${bytes}")
  endif()
  set(text "// NOLINTNEXTLINE(modernize-avoid-c-arrays)\nconstexpr char ${name}[] = {\n    ${bytes}'\\0'};\n")
  set(arrays "${arrays}${text}" PARENT_SCOPE)
endfunction()

set(arrays "")
wattle_bytes(kStyle "${STYLE}")
wattle_bytes(kScript "${SCRIPT}")
wattle_bytes(kScriptStyle "${SCRIPT_STYLE}")
file(WRITE ${OUTPUT} "// Made by cmake/embed.cmake from web/.
#include \"report/html/page.hpp\"

namespace wattle::html {
namespace {

${arrays}
}  // namespace

Assets built_in_assets() noexcept {
  return {.style = {kStyle, sizeof(kStyle) - 1},
          .script = {kScript, sizeof(kScript) - 1},
          .script_style = {kScriptStyle, sizeof(kScriptStyle) - 1}};
}

}  // namespace wattle::html
")
