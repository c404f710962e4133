# Tests by suite: one process runs all tests of one, since starting a process takes longer than most
# tests do. CMake's gtest_discover_tests makes one of each test.
#
# As a script: writes FILE, with which CTest runs the suites of PROGRAM.
#   cmake -D PROGRAM=... -D FILE=... -D PROPERTIES=... -P suites.cmake

if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(suites_script ${CMAKE_CURRENT_LIST_FILE})

  # discover_suites(PROGRAM PROPERTY VALUE...): adds a test for each suite of PROGRAM when it was built.
  function(discover_suites program)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/${program}_suites.cmake)
    add_custom_command(TARGET ${program} POST_BUILD VERBATIM
      COMMAND ${CMAKE_COMMAND} -D "PROGRAM=$<TARGET_FILE:${program}>" -D "FILE=${file}"
              -D "PROPERTIES=${ARGN}" -P ${suites_script}
      BYPRODUCTS ${file})
    set(unbuilt ${CMAKE_CURRENT_BINARY_DIR}/${program}_included.cmake)
    file(WRITE ${unbuilt} "if(EXISTS \"${file}\")\n  include(\"${file}\")\nelse()\n  add_test(${program}_NOT_BUILT ${program}_NOT_BUILT)\nendif()\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${unbuilt})
  endfunction()
  return()
endif()

execute_process(COMMAND ${PROGRAM} --gtest_list_tests
                OUTPUT_VARIABLE listing RESULT_VARIABLE status ERROR_VARIABLE listing_error)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} cannot list its tests: ${status}\n${listing_error}")
endif()
# "Suite." or "Kind/Suite/0.  # TypeParam = int", and below it "  Test".
string(REGEX MATCHALL "(^|\n)[^ \n]+\\.[ #\n]" suites "${listing}")
set(tests "")
string(REPLACE ";" " " PROPERTIES "${PROPERTIES}")
foreach(suite IN LISTS suites)
  string(REGEX REPLACE "\n|\\.[ #\n]$" "" suite "${suite}")
  string(APPEND tests "add_test([==[${suite}]==] [==[${PROGRAM}]==] [==[--gtest_filter=${suite}.*]==])\n"
    "set_tests_properties([==[${suite}]==] PROPERTIES ${PROPERTIES})\n")
endforeach()
file(WRITE ${FILE} "${tests}")
