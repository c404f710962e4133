# cmake -DOUTPUT=FILE -DFOLDER=web/built -P embed_dashboard.cmake
# Writes a C++ file that holds the page of the daemon and its Content-Security-Policy.

include(${CMAKE_CURRENT_LIST_DIR}/embed_bytes.cmake)

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
