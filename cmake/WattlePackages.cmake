# Debian packages of an installed tree: scripts/package makes them.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "Wattle's developers <developers@wattle.invalid>")
# Each package has a description of its own.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS
    ${PROJECT_BINARY_DIR}/src ${PROJECT_BINARY_DIR}/src/client
    ${PROJECT_BINARY_DIR}/src/energy/mongodb)
set(CPACK_COMPONENTS_ALL)

# wattle_package(COMPONENT NAME SECTION DESCRIPTION [DEPENDENCIES])
macro(wattle_package component name section description)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${description}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${ARGN}")
endmacro()

# A library's package has the name that programs ask the loader for.
set(soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(same "(= ${PROJECT_VERSION})")
macro(wattle_library_packages component description needs headers_need)
  set(name ${component}${soversion})
  wattle_package(${component} ${name} libs "${description}" "${needs}")
  wattle_package(${component}-dev ${component}-dev libdevel "${description} (to build with)"
                 "${name} ${same}${headers_need}")
endmacro()

if(WATTLE_BUILD_COMMAND)
  wattle_package(wattle wattle utils
    "What a command costs: energy, power, processors, memory, GPUs
Measures what a command, a training run or a server spends, each number with its error. Try:
wattle run -- COMMAND, wattle sensors, wattle doctor.")
  set(CPACK_DEBIAN_WATTLE_PACKAGE_RECOMMENDS "wattle-stream, libsqlite3-0")
endif()
if(TARGET wattle_stream_command)
  wattle_package(wattle-stream wattle-stream utils
    "Power of other machines: the sub-command stream of wattle" wattle)
endif()
if(WATTLE_BUILD_DAEMON)
  wattle_package(wattled wattled admin
    "Daemon that serves the power and energy of this machine
Reads what takes rights to read, and answers who may ask, over a socket or HTTP. Its installation
does not start it." "systemd | systemd-standalone-sysusers")
  set(CPACK_DEBIAN_WATTLED_PACKAGE_CONTROL_EXTRA
      ${PROJECT_SOURCE_DIR}/packaging/debian/postinst ${PROJECT_SOURCE_DIR}/packaging/debian/prerm
      ${PROJECT_SOURCE_DIR}/packaging/debian/postrm)
  set(CPACK_DEBIAN_WATTLED_PACKAGE_CONTROL_STRICT_PERMISSION ON)
endif()
wattle_library_packages(libwattle "Library that measures energy, power and use" "" "")
if(WATTLE_BUILD_STREAM)
  wattle_library_packages(libwattle-stream "Library that follows the power of other machines"
    "libwattle${soversion} ${same}" ", libwattle-dev ${same}")
endif()
if(WATTLE_BUILD_MONGODB)
  wattle_library_packages(libwattle-mongodb "Library that writes energy to MongoDB"
    "libwattle${soversion} ${same}" ", libwattle-dev ${same}, libmongoc-dev")
endif()
include(CPack)
