# cmake -DOUTPUT=FILE -DFOLDER=web/built -P embed_dashboard.cmake
# Writes a C++ file that holds the page of the daemon and its Content-Security-Policy.

function(wattle_bytes name file)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
  string(REGEX REPLACE "('[^']*',){16}" "\\0\n    " bytes "${bytes}")
  set(text "// NOLINTNEXTLINE(modernize-avoid-c-arrays)\nconstexpr char ${name}[] = {\n    ${bytes}'\\0'};\n")
  set(arrays "${arrays}${text}" PARENT_SCOPE)
endfunction()

set(arrays "")
wattle_bytes(kHtml ${FOLDER}/dashboard.html)
wattle_bytes(kPolicy ${FOLDER}/dashboard.csp)
file(WRITE ${OUTPUT} "// Made by cmake/embed_dashboard.cmake from web/built/.
#include \"api/dashboard.hpp\"

namespace wattle::daemon {
namespace {

${arrays}
}  // namespace

DashboardPage dashboard_page() noexcept {
  return {.html = {kHtml, sizeof(kHtml) - 1}, .policy = {kPolicy, sizeof(kPolicy) - 1}};
}

}  // namespace wattle::daemon
")
