# cmake -DOUTPUT=FILE -DSTYLE=FILE -DSCRIPT=FILE|"" -DSCRIPT_STYLE=FILE|"" -P embed.cmake
# Writes a C++ file that holds what the HTML pages have besides their content.

include(${CMAKE_CURRENT_LIST_DIR}/embed_bytes.cmake)

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
