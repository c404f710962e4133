# install, CMake package, pkg-config
include(CMakePackageConfigHelpers)

install(TARGETS wattle EXPORT wattle-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT wattle-targets NAMESPACE wattle:: FILE wattle-targets.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/wattle)
configure_package_config_file(cmake/wattle-config.cmake.in ${PROJECT_BINARY_DIR}/wattle-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/wattle)
# Before 1.0 a new minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/wattle-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/wattle-config.cmake
              ${PROJECT_BINARY_DIR}/wattle-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/wattle)

# Relative, so that the installed tree can be moved and `cmake --install --prefix` is honoured.
file(RELATIVE_PATH WATTLE_PC_TO_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/wattle.pc.in ${PROJECT_BINARY_DIR}/wattle.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/wattle.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(WATTLE_BUILD_MONGODB)
  install(TARGETS wattle_mongodb EXPORT wattle-mongodb-targets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
          FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT wattle-mongodb-targets NAMESPACE wattle:: FILE wattle-mongodb-targets.cmake
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/wattle)
  configure_file(cmake/wattle-mongodb.pc.in ${PROJECT_BINARY_DIR}/wattle-mongodb.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/wattle-mongodb.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

if(WATTLE_BUILD_STREAM)
  install(TARGETS wattle_stream EXPORT wattle-stream-targets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
          FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT wattle-stream-targets NAMESPACE wattle:: FILE wattle-stream-targets.cmake
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/wattle)
  configure_file(cmake/wattle-stream.pc.in ${PROJECT_BINARY_DIR}/wattle-stream.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/wattle-stream.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

# One file that programs import: PYTHONPATH=$(pkg-config --variable=pythondir wattle).
install(FILES ${PROJECT_SOURCE_DIR}/python/wattle_probe.py
        DESTINATION ${CMAKE_INSTALL_DATADIR}/wattle/python)

if(WATTLE_BUILD_COMMAND)
  install(TARGETS wattle_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET wattle_stream_command)
  install(TARGETS wattle_stream_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(WATTLE_BUILD_DAEMON)
  install(TARGETS wattled RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
