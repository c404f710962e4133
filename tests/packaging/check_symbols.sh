#!/bin/bash
# Compares what the libraries in the packages of the folder $1 export with the files in `symbols`. A
# line that goes away breaks programs: it takes a new minor version before 1.0, then a new major one.
#
#   check_symbols.sh FOLDER --write     writes the files instead
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp --directory)
trap 'rm -r "$folder"' EXIT

# Wattle's own symbols: inline functions of the standard library are in whoever uses them.
exported() {
  nm --dynamic --defined-only --demangle --format=bsd "$1" |
    sed -nE 's/^[0-9a-f]+ [TDBRV] ((vtable for |typeinfo (name )?for )?wattle::.*)$/\1/p' |
    LC_ALL=C sort --unique
}

for package in "$1"/libwattle*[0-9]_*.deb; do
  dpkg-deb --extract "$package" "$folder"
done
libraries=("$folder"/usr/lib/*/libwattle*.so.*.*.*)
((${#libraries[@]} == 3))
for library in "${libraries[@]}"; do
  name=$(basename "$library" | sed 's/\.so\..*//')
  [[ $(objdump --private-headers "$library") == *SONAME*"$name.so."[0-9]* ]]
  if [[ ${2:-} == --write ]]; then
    exported "$library" >"$here/symbols/$name.txt"
  elif ! exported "$library" | diff "$here/symbols/$name.txt" -; then
    echo "$name exports something else than symbols/$name.txt says"
    exit 1
  fi
done
