#!/bin/bash
# Checks the Debian packages in the folder $1: what they hold, that their programs run where nothing
# but them was installed, and that a purge leaves nothing behind. Installs into a folder of its own,
# which takes root.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

for package in "$1"/*.deb; do
  dpkg-deb --field "$package" Package
  # Folders are made by several.
  dpkg-deb --contents "$package" | awk '$1 !~ /^d/ { print "  " $6 $7 $8 }' |
    sed -E 's|/lib/[a-z0-9_]+-linux-gnu/|/lib/MACHINE/|; s|-[a-z0-9_]+-linux-gnu[.]so$|-MACHINE.so|' |
    # A page for each sub-command: tests/manuals sees to it.
    sed -E '/wattle-stream/!s|/man1/wattle-[a-z]+[.]1|/man1/wattle-SUBCOMMAND.1|' | uniq
done | diff "$here/contents.txt" - || {
  echo "the packages hold something else than contents.txt says"
  exit 1
}

[[ $EUID == 0 ]] || {
  echo "to install them takes root"
  exit 77
}
root=$(mktemp -d)
trap 'rm -r "$root"' EXIT
mkdir -p "$root"/etc "$root"/var/lib/dpkg/{info,updates}
touch "$root"/var/lib/dpkg/{status,available}
echo 'root:x:0:0::/root:/bin/sh' >"$root/etc/passwd"
echo 'root:x:0:' >"$root/etc/group"
# What the packages depend on is this machine's.
dpkg_there() { dpkg --root="$root" --force-depends --force-script-chrootless "$@" >"$root.log" 2>&1; }
dpkg_there --install "$1"/*.deb || {
  cat "$root.log"
  exit 1
}

libraries=$(dirname "$(find "$root/usr/lib" -name 'libwattle.so')")
export LD_LIBRARY_PATH=$libraries
version=$(dpkg-deb --field "$(echo "$1"/wattle_*.deb)" Version)
# The commit is that of the build.
[[ $("$root/usr/bin/wattle" --version) == "wattle $version"?( (commit *)) ]]
[[ $("$root/usr/bin/wattled" --version) == "wattled $version"?( (commit *)) ]]
# What a release is called is in the changelog, or will be.
grep --quiet --extended-regexp "^## \[(Unreleased|$version)\]" "$here/../../CHANGELOG.md"
"$root/usr/bin/wattle" run --quiet --json - -- true | grep --quiet '"schema": *"wattle.run/2"'
"$root/usr/bin/wattle" stream --help >/dev/null
PYTHONPATH=$root/usr/lib/python3/dist-packages /usr/bin/python3 -B -c '
import wattle, wattle.stream
with wattle.measure() as m:
    pass
assert m.total_j is not None or m.missing'
grep --quiet '^ExecStart=/usr/bin/wattled ' "$root/usr/lib/systemd/system/wattled.service"
grep --quiet '^wattled:' "$root/etc/passwd"
grep --quiet '^wattle:' "$root/etc/group"
PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=$libraries/pkgconfig \
  sh -c "c++ -std=c++20 '$here/../consumer/project/main.cpp' \$(pkg-config --cflags --libs wattle) \
    -o '$root/consumer'"
"$root/consumer" >/dev/null
rm "$root/consumer"

for package in "$1"/*.deb; do dpkg-deb --field "$package" Package; done |
  xargs dpkg --root="$root" --force-depends --force-script-chrootless --purge >"$root.log" 2>&1 || {
  cat "$root.log"
  exit 1
}
left=$(find "$root" -mindepth 1 ! -type d ! -path "$root/var/*" ! -path "$root/etc/*" -o -iname '*wattle*')
users=$(grep wattle "$root"/etc/{passwd,group,shadow,gshadow} || true)
rm "$root.log"
[[ -z $left$users ]] || {
  echo "left behind: $left $users"
  exit 1
}
