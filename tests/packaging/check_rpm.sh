#!/bin/bash
# Checks the RPM packages in the folder $1: what they hold, that they can be installed into an empty
# tree, and that their removal leaves nothing there. Takes root.
source "$(dirname "$0")/root.bash" "$@"
here=$(cd "$(dirname "$0")" && pwd)

for package in "$1"/*.rpm; do
  rpm --query --package --queryformat '%{NAME}\n' "$package"
  # Folders are made by several.
  # A page for each sub-command: tests/manuals sees to it.
  rpm --query --package --list --verbose "$package" | awk '$1 !~ /^d/ { print "  " $9 }' |
    sed -E '/wattle-stream/!s|/man1/wattle-[a-z]+[.]1|/man1/wattle-SUBCOMMAND.1|' | uniq
done | diff "$here/contents_rpm.txt" - || wrong "the packages hold what contents_rpm.txt says"

# What they depend on is this machine's, and so is the shell of their scripts.
rpm_there() { rpm --root "$root" --dbpath /var/lib/rpm --nodeps "$@"; }
check they can be installed -- rpm_there --install --noscripts "$1"/*.rpm
check they are as they were packed -- rpm_there --verify --nouser --nogroup --noscripts wattle wattled
for program in wattle wattled; do
  [[ $("$root/usr/bin/$program" --version) == "$program "[0-9]* ]] || wrong "$program runs"
done
for script in post preun postun; do
  sh -n "$here/../../packaging/rpm/$script" || wrong "$script is a shell script"
done
check they can be removed -- rpm_there --erase --noscripts wattle wattled
left=$(find "$root" -iname '*wattle*')
[[ -z $left ]] || wrong "nothing is left, except: $left"
echo "installed and removed: $(cd "$1" && echo *.rpm)"
