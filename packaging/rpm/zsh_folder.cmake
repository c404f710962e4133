# Run by CPack when the files of a package are there: with RPM, zsh looks for completions elsewhere
# than in Debian.
if(CPACK_GENERATOR STREQUAL RPM)
  file(GLOB folders ${CPACK_TEMPORARY_DIRECTORY}/usr/share/zsh
                    ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/zsh)
  foreach(folder IN LISTS folders)
    file(RENAME ${folder}/vendor-completions ${folder}/site-functions)
  endforeach()
endif()
