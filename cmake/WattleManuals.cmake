# Man pages and completions of bash, zsh and fish, made from the help that the programs print. Not
# under a sanitizer, and not without Python.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(NOT WATTLE_BUILD_COMMAND OR WATTLE_SANITIZE OR NOT Python3_Interpreter_FOUND)
  return()
endif()

set(WATTLE_MANUALS ${PROJECT_BINARY_DIR}/manuals)
set(programs wattle_command)
set(wattled "")
if(TARGET wattle_stream_command)
  list(APPEND programs wattle_stream_command)
endif()
if(WATTLE_BUILD_DAEMON)
  list(APPEND programs wattled)
  set(wattled $<TARGET_FILE:wattled>)
endif()
add_custom_command(
  OUTPUT ${WATTLE_MANUALS}/made
  COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/packaging/make_manuals.py
          ${WATTLE_MANUALS} $<TARGET_FILE:wattle_command> "${wattled}" ${PROJECT_VERSION}
  COMMAND ${CMAKE_COMMAND} -E touch ${WATTLE_MANUALS}/made
  DEPENDS packaging/make_manuals.py ${programs}
  COMMENT "Man pages and completions" VERBATIM)
add_custom_target(manuals ALL DEPENDS ${WATTLE_MANUALS}/made)

# Of other prefixes than /usr, and on distributions with RPM, zsh reads site-functions.
set(zsh_folder zsh/site-functions)
if(CMAKE_INSTALL_PREFIX STREQUAL /usr)
  set(zsh_folder zsh/vendor-completions)
endif()
function(wattle_install_completions program component)
  install(FILES ${WATTLE_MANUALS}/bash/${program} COMPONENT ${component}
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${WATTLE_MANUALS}/zsh/_${program} COMPONENT ${component}
          DESTINATION ${CMAKE_INSTALL_DATADIR}/${zsh_folder})
  install(FILES ${WATTLE_MANUALS}/fish/${program}.fish COMPONENT ${component}
          DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endfunction()

wattle_install_completions(wattle wattle)
install(DIRECTORY ${WATTLE_MANUALS}/packed/man1 DESTINATION ${CMAKE_INSTALL_MANDIR}
        COMPONENT wattle PATTERN wattle-stream.1.gz EXCLUDE)
if(TARGET wattle_stream_command)
  install(FILES ${WATTLE_MANUALS}/packed/man1/wattle-stream.1.gz
          DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT wattle-stream)
endif()
if(WATTLE_BUILD_DAEMON)
  wattle_install_completions(wattled wattled)
  install(FILES ${WATTLE_MANUALS}/packed/man8/wattled.8.gz
          DESTINATION ${CMAKE_INSTALL_MANDIR}/man8 COMPONENT wattled)
endif()
