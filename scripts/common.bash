# What the scripts share; sourced by each of them, from anywhere.
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ -t 1 && -z ${NO_COLOR:-} ]]; then
  say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
else
  say() { printf '\n== %s\n' "$*"; }
fi
fail() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# Where ccache is installed, what was compiled once is not compiled again.
if [[ -z ${CMAKE_CXX_COMPILER_LAUNCHER:-} ]] && command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi

# A command that builds and tests run under.
under=()

# build PRESET [TARGET...]: configures and builds in build/PRESET.
build() {
  local preset=$1
  shift
  cmake --preset "$preset" >/dev/null
  "${under[@]}" cmake --build "build/$preset" ${1+--target "$@"}
}

# run_tests PRESET CTEST-OPTION...: runs the tests in build/PRESET; tells why some were skipped, and
# how many were not.
run_tests() {
  local preset=$1 status=0
  shift
  "${under[@]}" ctest --test-dir "build/$preset" --parallel "$(nproc)" --output-on-failure \
    --no-tests=error "$@" || status=$?
  awk '/ Test: / { name = $3; ++tests }
    /: Skipped$/ { getline; print "skipped " name ": " $0; ++skipped }
    END { printf "%d tests ran, %d were skipped\n", tests - skipped, skipped }' \
    "build/$preset/Testing/Temporary/LastTest.log"
  return "$status"
}

# cpp_files GLOB: the project's C++ files of that name, each ended by a zero byte.
cpp_files() { find apps bench examples fuzz include src tests -name "$1" -print0 | sort -z; }
