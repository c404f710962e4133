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

# build PRESET [TARGET...]: configures and builds in build/PRESET.
build() {
  local preset=$1
  shift
  cmake --preset "$preset" >/dev/null
  cmake --build "build/$preset" ${1+--target "$@"}
}

# cpp_files GLOB: the project's C++ files of that name, each ended by a zero byte.
cpp_files() { find apps bench examples fuzz include src tests -name "$1" -print0 | sort -z; }
