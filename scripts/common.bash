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
  remedy=
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# What to do when the command that runs now fails: the last line that a script prints.
remedy="read the message above"
trap 'status=$?; ((status == 0)) || [[ -z $remedy || $BASHPID != $$ ]] ||
  printf "%s: failed: %s\n" "${0##*/}" "$remedy" >&2' EXIT

# Where ccache is installed, what was compiled once is not compiled again. It trusts the compiler's
# list of headers, which saves it from preprocessing, and knows what a precompiled header is made of.
if [[ -z ${CMAKE_CXX_COMPILER_LAUNCHER:-} ]] && command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_DEPEND=1 CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=$PWD
  export CCACHE_SLOPPINESS=pch_defines,time_macros
fi

# A command that builds and tests run under.
under=()
# Further options of a configuration.
configure_options=()

# build PRESET MINUTES [TARGET...]: configures and builds in build/PRESET. MINUTES: what that takes
# from scratch on two cores.
build() {
  local preset=$1 minutes=$2
  shift 2
  if [[ ! -e build/$preset/.ninja_log ]]; then
    echo "from scratch: about $(((2 * minutes + $(nproc) - 1) / $(nproc))) min on $(nproc) cores"
  fi
  remedy="see the error above; again: cmake --preset $preset"
  cmake --preset "$preset" "${configure_options[@]}" >"build/$preset.log" 2>&1 || { cat "build/$preset.log" && return 1; }
  remedy="fix the first error above; again: cmake --build build/$preset"
  NINJA_STATUS="[%f/%t, %e s] " "${under[@]}" cmake --build "build/$preset" ${1+--target "$@"}
  remedy="read the message above"
}

# again_alone PRESET: runs once more, one at a time, what has just failed, where that is at most three
# tests. On a machine with other work a test may come too late for what it waits for; what is wrong
# fails again. Those that pass are named, so that somebody makes them independent of time.
again_alone() {
  local at=build/$1/Testing/Temporary names
  names=$(cut --delimiter=: --fields=2- "$at/LastTestsFailed.log" 2>/dev/null) || return 1
  (($(wc --lines <<<"$names") <= 3)) || return 1
  say "tests: again, alone: ${names//$'\n'/ }"
  "${under[@]}" ctest --test-dir "build/$1" --rerun-failed --output-on-failure || return 1
  echo "failed beside others, passed alone: ${names//$'\n'/ }"
}

# run_tests PRESET JOBS CTEST-OPTION...: runs the tests in build/PRESET, JOBS at a time; prints why
# some were skipped, and how many ran.
run_tests() {
  local preset=$1 jobs=$2 status=0 log=build/$1/Testing/tests.log
  shift 2
  rm -f "build/$preset/Testing/Temporary/LastTestsFailed.log"
  "${under[@]}" ctest --test-dir "build/$preset" --parallel "$jobs" --output-on-failure \
    --no-tests=error "$@" || status=$?
  cp "build/$preset/Testing/Temporary/LastTest.log" "$log"
  ((status == 0)) || ! again_alone "$preset" || status=0
  # A test of CTest is a suite of GoogleTest's, a single one of them, a file of pytest's, or another
  # program.
  awk '/ Test: / { name = $3; ++tests; is_first = 1 }
    /^\[ RUN      \]/ { name = $4; tests += !is_first; is_first = 0 }
    /^skipped: / { print "skipped " name ": " substr($0, 10); ++skipped }
    /^[0-9]+ (passed|skipped)[, ].* in [0-9.]+s/ {
      all = 0
      for (i = 2; i <= NF; ++i) if ($i ~ /^(passed|skipped),?$/) all += $(i - 1)
      tests += all - 1
    }
    /^SKIPPED \[[0-9]+\] / {
      skipped += substr($2, 2) + 0
      print "skipped " name ": " substr($0, index($0, $3))
    }
    /: Skipped$/ { getline; print "skipped " name ": " $0; ++skipped }
    END { printf "%d tests ran, %d were skipped\n", tests - skipped, skipped }' "$log"
  ((status == 0)) ||
    remedy="again, only these: ctest --test-dir build/$preset --rerun-failed --output-on-failure"
  return "$status"
}

# cpp_files GLOB: the project's C++ files of that name, each ended by a zero byte.
cpp_files() { find apps bench examples fuzz include src tests -name "$1" -print0 | sort -z; }

mkdir -p build
