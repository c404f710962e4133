# What every target of Wattle shares: warnings, hardening, sanitizers. Settings are on targets,
# never global, so that a parent project keeps its own.

include(CheckPIESupported)
check_pie_supported()

function(wattle_target target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
    -Wnon-virtual-dtor -Wdouble-promotion
    # g++ warns even where designated initializers leave a member its default on purpose.
    -Wno-missing-field-initializers)
  # g++ 12 sees overlaps that cannot be in `"text" + std::string` (GCC bug 105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  # Optimizing, g++ takes what an empty std::optional holds for used (GCC bug 80635), and sees writes
  # past the ends of strings and vectors that cannot be (105329, 105651), also when it links.
  set(false_warnings
    "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release,RelWithDebInfo>>:-Wno-maybe-uninitialized;-Wno-array-bounds;-Wno-stringop-overflow>")
  target_compile_options(${target} PRIVATE "${false_warnings}")
  target_link_options(${target} PRIVATE "${false_warnings}")
  # A library's objects made for link-time optimization also hold code that every linker reads: an
  # installed libwattle.a needs that, and so do tests, which are linked without it.
  get_target_property(type ${target} TYPE)
  if(CMAKE_INTERPROCEDURAL_OPTIMIZATION AND NOT type STREQUAL "EXECUTABLE")
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-ffat-lto-objects>)
  endif()
  # Several files as one: their unnamed namespaces are the same, which is no fault.
  if(CMAKE_UNITY_BUILD)
    target_compile_options(${target} PRIVATE
      -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
  if(WATTLE_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(WATTLE_SANITIZE)
    target_compile_options(${target} PRIVATE
      -fsanitize=${WATTLE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
      # A driver's functions return a type of the driver's; ours has the same representation. Checks of
      # vtables open a pipe, which fails in tests of too few descriptors.
      $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function,vptr>
      # g++ sees uninitialized values in what the sanitizers put in (GCC bug 105562).
      $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    target_link_options(${target} PRIVATE -fsanitize=${WATTLE_SANITIZE})
  else()
    target_compile_options(${target} PRIVATE
      -fstack-protector-strong -fstack-clash-protection
      $<$<CONFIG:Release,RelWithDebInfo>:-U_FORTIFY_SOURCE>
      $<$<CONFIG:Release,RelWithDebInfo>:-D_FORTIFY_SOURCE=2>)
    # A program keeps only the functions that it uses: fewer pages of it are read at its start and stay
    # resident. The linker compiles, too, where optimization crosses files.
    set(sections $<$<CONFIG:Release,RelWithDebInfo>:-ffunction-sections>
                 $<$<CONFIG:Release,RelWithDebInfo>:-fdata-sections>)
    target_compile_options(${target} PRIVATE ${sections})
    target_link_options(${target} PRIVATE ${sections}
                        $<$<CONFIG:Release,RelWithDebInfo>:-Wl,--gc-sections>)
    # The last: what one library uses of another and is not exported is missed when it is linked,
    # not by the first program that uses it.
    target_link_options(${target} PRIVATE -Wl,-z,relro -Wl,-z,now -Wl,-z,defs)
  endif()
endfunction()
