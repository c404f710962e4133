#!/bin/bash
# What the component wattle-slurm of the build folder $1 installs: all that a site needs to load the plugin.
set -euo pipefail
root=$(mktemp --directory)
trap 'rm -r "$root"' EXIT

DESTDIR=$root cmake --install "$1" --component wattle-slurm >/dev/null
held=$(cd "$root" && find . -type f ! -path '*/doc/*' -printf '%f\n' | LC_ALL=C sort)
plugstack=$(find "$root" -path '*/plugstack.conf.d/wattle.conf' -o -name plugstack.conf)
[[ $held == $'epilog\nplugstack.conf\nprolog\nspank_wattle.so\nwattle.lua\nwattle.tcl' ||
  $held == $'epilog\nprolog\nspank_wattle.so\nwattle.conf\nwattle.lua\nwattle.tcl' ]] || {
  echo "the component holds: $held"
  exit 1
}
grep --quiet --line-regexp 'optional spank_wattle.so' "$plugstack"
plugin=$(find "$root" -name spank_wattle.so)
[[ $plugin == */slurm-wlm/spank_wattle.so ]]
nm --dynamic --defined-only "$plugin" | grep --quiet ' slurm_spank_init$'
for script in prolog epilog; do
  # A job whose number is none: the script is there, runs, and drains no node.
  SLURM_JOB_ID=none "$(find "$root" -name $script)"
done
