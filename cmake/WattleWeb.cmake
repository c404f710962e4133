# The script of the HTML pages (web/), for zoom and hover: esbuild and uPlot come from npm, as
# web/package-lock.json names them. Without npm, or where it reaches nothing, pages are complete, but
# stay as they are drawn. Decided once, when a build folder is made: no step of the build itself needs
# the network.
set(web_source ${PROJECT_SOURCE_DIR}/web)
set(web_folder ${PROJECT_BINARY_DIR}/web)
find_program(WATTLE_NODE NAMES node nodejs)
find_program(WATTLE_NPM npm)
mark_as_advanced(WATTLE_NODE WATTLE_NPM)

# Sets `problem` to what is wrong; empty: the packages are there.
function(wattle_install_web_packages)
  if(NOT WATTLE_NODE OR NOT WATTLE_NPM)
    set(problem "nodejs and npm were not found" PARENT_SCOPE)
    return()
  endif()
  file(SHA256 ${web_source}/package-lock.json wanted)
  set(stamp ${web_folder}/installed)
  if(EXISTS ${stamp})
    file(READ ${stamp} installed)
    if(installed STREQUAL wanted)
      set(problem "" PARENT_SCOPE)
      return()
    endif()
  endif()
  message(STATUS "Installing esbuild and uPlot from npm into ${web_folder}")
  foreach(name IN ITEMS .npmrc package.json package-lock.json)
    configure_file(${web_source}/${name} ${web_folder}/${name} COPYONLY)
  endforeach()
  execute_process(
    COMMAND ${WATTLE_NPM} ci --omit=dev --prefer-offline --fetch-retries=1 --fetch-timeout=20000
    WORKING_DIRECTORY ${web_folder} TIMEOUT 120
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    file(WRITE ${web_folder}/npm.log "${output}")
    set(problem "npm ci failed (see ${web_folder}/npm.log)" PARENT_SCOPE)
    return()
  endif()
  file(WRITE ${stamp} ${wanted})
  set(problem "" PARENT_SCOPE)
endfunction()

if(NOT DEFINED WATTLE_BUILD_WEB OR WATTLE_BUILD_WEB)
  wattle_install_web_packages()
endif()
set(can_build_web ON)
if(problem)
  set(can_build_web OFF)
endif()
option(WATTLE_BUILD_WEB "Give HTML pages zoom and hover (needs npm, and uPlot from it)" ${can_build_web})
if(WATTLE_BUILD_WEB AND problem)
  message(FATAL_ERROR "Zoom and hover of HTML pages need packages from npm: ${problem}. Install nodejs "
                      "and npm, or configure with -DWATTLE_BUILD_WEB=OFF")
elseif(NOT WATTLE_BUILD_WEB)
  message(STATUS "Without zoom and hover in HTML pages; for these: nodejs, npm and -DWATTLE_BUILD_WEB=ON")
endif()

set(assets ${web_folder}/assets.cpp)
set(embed ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
set(embed_bytes ${PROJECT_SOURCE_DIR}/cmake/embed_bytes.cmake)
set(bundle "")
if(WATTLE_BUILD_WEB)
  set(bundle ${web_folder}/out/page.js ${web_folder}/out/page.css)
  file(GLOB web_files CONFIGURE_DEPENDS ${web_source}/src/*.ts)
  add_custom_command(OUTPUT ${bundle}
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${web_folder}/src
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${web_source}/src ${web_folder}/src
    COMMAND ${CMAKE_COMMAND} -E copy ${web_source}/build.mjs ${web_folder}
    COMMAND ${WATTLE_NODE} build.mjs out
    DEPENDS ${web_files} ${web_source}/build.mjs ${web_source}/package-lock.json
    WORKING_DIRECTORY ${web_folder}
    COMMENT "Bundling the script of the HTML pages" VERBATIM)
  set(scripts -DSCRIPT=${web_folder}/out/page.js -DSCRIPT_STYLE=${web_folder}/out/page.css)
endif()
add_custom_command(OUTPUT ${assets}
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${assets} -DSTYLE=${web_source}/page.css ${scripts} -P ${embed}
  DEPENDS ${web_source}/page.css ${embed} ${embed_bytes} ${bundle}
  COMMENT "Embedding the assets of the HTML pages" VERBATIM)
set_source_files_properties(${assets} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# Pages for a browser: of the command alone, not of the library.
add_library(wattle_html OBJECT
  ${assets}
  src/report/html/content_hash.cpp
  src/report/html/curve_plot.cpp
  src/report/html/dot_plot.cpp
  src/report/html/escape.cpp
  src/report/html/figure.cpp
  src/report/html/page.cpp
  src/report/html/page_parts.cpp
  src/report/html/plot.cpp
  src/report/html/run_page.cpp
  src/report/html/unit_blocks.cpp
  src/runs/html/bench_page.cpp
  src/runs/html/compare_page.cpp
  src/runs/html/cost_plots.cpp
  src/runs/html/job_page.cpp
  src/runs/html/scan_plot.cpp)
wattle_target(wattle_html)
target_link_libraries(wattle_html PRIVATE wattle_objects fmt::fmt-header-only)
