# Packages of an installed tree, for Debian and for RPM: scripts/package makes them.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME wattle)
set(CPACK_PACKAGE_CONTACT "Wattle's developers <developers@wattle.invalid>")
# Each package has a description of its own.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS
    ${PROJECT_BINARY_DIR}/src ${PROJECT_BINARY_DIR}/src/client
    ${PROJECT_BINARY_DIR}/src/energy/mongodb)
set(CPACK_COMPONENTS_ALL)

# The licences of all that is compiled in, and the changelog that Debian's tools read. Their date is
# SOURCE_DATE_EPOCH, where that is set.
string(TIMESTAMP WATTLE_PACKAGE_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(packaging/debian/changelog.in ${PROJECT_BINARY_DIR}/packaging/changelog @ONLY)
configure_file(CHANGELOG.md ${PROJECT_BINARY_DIR}/packaging/CHANGELOG.md COPYONLY)
execute_process(COMMAND gzip --force --keep --best --no-name changelog CHANGELOG.md
                WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/packaging COMMAND_ERROR_IS_FATAL ANY)

# wattle_package(COMPONENT NAME SECTION DESCRIPTION [DEPENDENCIES])
macro(wattle_package component name section description)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${description}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${ARGN}")
  # Debug symbols go to a package of their own, except where there is no code.
  if(NOT ${component} MATCHES "-dev$")
    set(CPACK_DEBIAN_${upper}_DEBUGINFO_PACKAGE ON)
  endif()
  install(FILES packaging/debian/copyright ${PROJECT_BINARY_DIR}/packaging/changelog.gz
          DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${name} COMPONENT ${component})
endmacro()

# A library's package has the name that programs ask the loader for.
set(soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(same "(= ${PROJECT_VERSION})")
macro(wattle_library_packages component description needs headers_need)
  set(name ${component}${soversion})
  wattle_package(${component} ${name} libs
                 "${description}\nThe shared library, for programs that were built with it."
                 "${needs}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/debian/triggers)
  wattle_package(${component}-dev ${component}-dev libdevel
                 "Headers of ${name}\n${description}:\nwhat programs need that are built with it."
                 "${name} ${same}${headers_need}")
endmacro()

if(WATTLE_BUILD_COMMAND)
  wattle_package(wattle wattle utils
    "Energy, power, CPU time, memory and GPUs of a command
Measures the cost of a command, a training run or a server, each number with
its error. Try: wattle run -- COMMAND, wattle sensors, wattle doctor.")
  set(CPACK_DEBIAN_WATTLE_PACKAGE_RECOMMENDS "wattle-stream, libsqlite3-0, zlib1g")
  install(FILES ${PROJECT_BINARY_DIR}/packaging/CHANGELOG.md.gz
          DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/wattle COMPONENT wattle)
endif()
if(TARGET wattle_stream_command)
  wattle_package(wattle-stream wattle-stream utils
    "Power of other machines: wattle stream
The sub-command stream of wattle, which follows the daemons of other machines
over HTTP."
    "wattle ${same}")
endif()
if(WATTLE_BUILD_DAEMON)
  wattle_package(wattled wattled admin
    "Daemon that serves the power and energy of this machine
Reads the energy counters that users may not read, and serves them to the
members of a group over a Unix socket, or over HTTP. Its installation does not
start it."
    "systemd | systemd-standalone-sysusers, passwd")
  set(CPACK_DEBIAN_WATTLED_PACKAGE_SUGGESTS "libcurl4")  # for --otlp
  set(CPACK_DEBIAN_WATTLED_PACKAGE_CONTROL_EXTRA
      ${PROJECT_SOURCE_DIR}/packaging/debian/conffiles
      ${PROJECT_SOURCE_DIR}/packaging/debian/postinst ${PROJECT_SOURCE_DIR}/packaging/debian/prerm
      ${PROJECT_SOURCE_DIR}/packaging/debian/postrm)
  set(CPACK_DEBIAN_WATTLED_PACKAGE_CONTROL_STRICT_PERMISSION ON)
endif()
if(TARGET spank_wattle)
  # Slurm refuses plugins that were built for another major version.
  file(STRINGS ${WATTLE_SLURM_INCLUDE}/slurm/slurm_version.h slurm_version REGEX "SLURM_VERSION_NUMBER 0x")
  string(REGEX REPLACE ".*0x(..)(..).*" "\\1;\\2" slurm_version "${slurm_version}")
  list(GET slurm_version 0 slurm_year)
  list(GET slurm_version 1 slurm_month)
  math(EXPR slurm_year "0x${slurm_year}")
  math(EXPR slurm_month "0x${slurm_month}")
  math(EXPR slurm_next "${slurm_month} + 1")
  if(slurm_month LESS 10)
    string(PREPEND slurm_month 0)
  endif()
  if(slurm_next LESS 10)
    string(PREPEND slurm_next 0)
  endif()
  wattle_package(wattle-slurm wattle-slurm admin
    "Energy of Slurm's jobs and steps: srun --wattle
A plugin for Slurm's nodes and login nodes, prolog and epilog for sites without
it, and modulefiles. Measures nothing until a user or an administrator asks."
    "wattle ${same}, slurm-wlm-basic-plugins (>= ${slurm_year}.${slurm_month}), slurm-wlm-basic-plugins (<< ${slurm_year}.${slurm_next})")
  set(CPACK_DEBIAN_WATTLE-SLURM_PACKAGE_RECOMMENDS "wattled")
  set(CPACK_DEBIAN_WATTLE-SLURM_PACKAGE_CONTROL_EXTRA
      ${PROJECT_SOURCE_DIR}/packaging/debian/slurm/conffiles)
  set(CPACK_DEBIAN_WATTLE-SLURM_PACKAGE_CONTROL_STRICT_PERMISSION ON)
endif()
wattle_library_packages(libwattle "Library that measures energy, power and use" "" "")
if(WATTLE_BUILD_STREAM)
  wattle_library_packages(libwattle-stream "Library that follows the power of other machines"
    "libwattle${soversion} ${same}"
    ", libwattle-dev ${same}, libcurl4-openssl-dev | libcurl-dev, libsimdjson-dev")
endif()
if(WATTLE_BUILD_MONGODB)
  wattle_library_packages(libwattle-mongodb "Library that writes energy to MongoDB"
    "libwattle${soversion} ${same}" ", libwattle-dev ${same}, libmongoc-dev")
endif()
if(WATTLE_BUILD_PYTHON)
  math(EXPR next_minor "${Python_VERSION_MINOR} + 1")
  set(needs "python3 (>= ${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}), python3 (<< ${Python_VERSION_MAJOR}.${next_minor}), libwattle${soversion} ${same}")
  if(WATTLE_BUILD_STREAM)
    string(APPEND needs ", libwattle-stream${soversion} ${same}")
  endif()
  wattle_package(python3-wattle python3-wattle python
    "Energy, power and use from Python: import wattle
Measures blocks and functions, follows power over time, tracks processes, and
runs commands. numpy and pandas are imported only where they are asked for."
    "${needs}")
  set(CPACK_DEBIAN_PYTHON3-WATTLE_PACKAGE_RECOMMENDS "wattle")
  set(CPACK_DEBIAN_PYTHON3-WATTLE_PACKAGE_CONTROL_EXTRA
      ${PROJECT_SOURCE_DIR}/packaging/debian/python3/postinst
      ${PROJECT_SOURCE_DIR}/packaging/debian/python3/prerm)
  set(CPACK_DEBIAN_PYTHON3-WATTLE_PACKAGE_CONTROL_STRICT_PERMISSION ON)
endif()

set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/rpm/zsh_folder.cmake
    ${PROJECT_SOURCE_DIR}/packaging/same_times.cmake)

# RPM: the command and the daemon. The libraries' folder is that of Debian.
set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_COMPRESSION_TYPE zstd)
# The same package from the same commit, on any machine; no links for debuggers.
set(CPACK_RPM_SPEC_MORE_DEFINE "%define _build_id_links none
%define use_source_date_epoch_as_buildtime 1
%define clamp_mtime_to_source_date_epoch 1
%define _buildhost localhost")
set(CPACK_RPM_WATTLE_PACKAGE_NAME wattle)
set(CPACK_RPM_WATTLE_PACKAGE_SUMMARY "Energy, power, CPU time, memory and GPUs of a command")
set(CPACK_RPM_WATTLE_PACKAGE_DESCRIPTION "${CPACK_DEBIAN_WATTLE_DESCRIPTION}")
set(CPACK_RPM_WATTLED_PACKAGE_NAME wattled)
set(CPACK_RPM_WATTLED_PACKAGE_SUMMARY "Daemon that serves the power and energy of this machine")
set(CPACK_RPM_WATTLED_PACKAGE_DESCRIPTION "${CPACK_DEBIAN_WATTLED_DESCRIPTION}")
# Its script runs systemd-sysusers.
set(CPACK_RPM_WATTLED_PACKAGE_REQUIRES "systemd")
set(CPACK_RPM_WATTLED_POST_INSTALL_SCRIPT_FILE ${PROJECT_SOURCE_DIR}/packaging/rpm/post)
set(CPACK_RPM_WATTLED_PRE_UNINSTALL_SCRIPT_FILE ${PROJECT_SOURCE_DIR}/packaging/rpm/preun)
set(CPACK_RPM_WATTLED_POST_UNINSTALL_SCRIPT_FILE ${PROJECT_SOURCE_DIR}/packaging/rpm/postun)
set(CPACK_RPM_WATTLED_USER_FILELIST "%config(noreplace) /etc/default/wattled")
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
    /etc /etc/default /usr/lib/systemd /usr/lib/systemd/system /usr/lib/sysusers.d /usr/share/doc
    /usr/share/bash-completion /usr/share/bash-completion/completions
    /usr/share/fish /usr/share/fish/vendor_completions.d
    /usr/share/zsh /usr/share/zsh/site-functions
    /usr/share/man /usr/share/man/man1 /usr/share/man/man8)
include(CPack)
