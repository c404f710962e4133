# install, CMake package, pkg-config. Each component is a package of its own (WattlePackages.cmake).
include(CMakePackageConfigHelpers)

# wattle_install_library(TARGET COMPONENT EXPORT PKG_CONFIG_FILE): the shared library for programs;
# the static one, headers, CMake targets and the pkg-config file for who builds them.
# The path to the prefix is relative, so that the installed tree can be moved and
# `cmake --install --prefix` is honoured.
file(RELATIVE_PATH WATTLE_PC_TO_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
function(wattle_install_library target component export pkg_config)
  install(TARGETS ${target} EXPORT ${export}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
                  COMPONENT ${component} NAMELINK_COMPONENT ${component}-dev
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component}-dev
          FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT ${component}-dev)
  install(EXPORT ${export} NAMESPACE wattle:: FILE ${export}.cmake
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/wattle COMPONENT ${component}-dev)
  configure_file(cmake/${pkg_config}.in ${PROJECT_BINARY_DIR}/${pkg_config} @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${pkg_config}
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${component}-dev)
endfunction()

wattle_install_library(wattle libwattle wattle-targets wattle.pc)
configure_package_config_file(cmake/wattle-config.cmake.in ${PROJECT_BINARY_DIR}/wattle-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/wattle)
# Before 1.0 a new minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/wattle-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/wattle-config.cmake
              ${PROJECT_BINARY_DIR}/wattle-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/wattle COMPONENT libwattle-dev)
if(WATTLE_BUILD_MONGODB)
  wattle_install_library(wattle_mongodb libwattle-mongodb wattle-mongodb-targets wattle-mongodb.pc)
endif()
if(WATTLE_BUILD_STREAM)
  wattle_install_library(wattle_stream libwattle-stream wattle-stream-targets wattle-stream.pc)
endif()

# One file that programs import: PYTHONPATH=$(pkg-config --variable=pythondir wattle).
install(FILES ${PROJECT_SOURCE_DIR}/python/wattle_probe.py
        DESTINATION ${CMAKE_INSTALL_DATADIR}/wattle/python COMPONENT libwattle-dev)

if(WATTLE_BUILD_COMMAND)
  install(TARGETS wattle_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT wattle)
endif()
if(TARGET wattle_stream_command)
  install(TARGETS wattle_stream_command
          RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT wattle-stream)
endif()
if(WATTLE_BUILD_DAEMON)
  install(TARGETS wattled RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT wattled)
  # systemd looks into lib of /usr and of /usr/local, whatever the folder of libraries is.
  file(READ packaging/systemd/wattled.service unit)
  string(REPLACE /usr/bin/wattled ${CMAKE_INSTALL_FULL_BINDIR}/wattled unit "${unit}")
  file(WRITE ${PROJECT_BINARY_DIR}/wattled.service "${unit}")
  install(FILES ${PROJECT_BINARY_DIR}/wattled.service packaging/systemd/wattled.socket
          DESTINATION lib/systemd/system COMPONENT wattled)
  install(FILES packaging/systemd/wattled.sysusers
          DESTINATION lib/sysusers.d RENAME wattled.conf COMPONENT wattled)
  # The unit does without it. Elsewhere there is no folder that it could name.
  if(CMAKE_INSTALL_PREFIX STREQUAL /usr)
    install(FILES packaging/systemd/wattled.default
            DESTINATION ../etc/default RENAME wattled COMPONENT wattled)
  endif()
endif()
