#!/bin/bash
# Builds the packages of this commit a second time, in another folder and without what was compiled
# before: they are those in the folder $1, byte by byte. Takes as long as a build from scratch.
set -euo pipefail
packages=$(realpath "$1")
source=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
[[ -z $(git -C "$source" status --porcelain) ]] || {
  echo "there are changes that are not committed"
  exit 1
}
folder=$(mktemp --directory)
trap 'rm -rf "$folder"' EXIT
git clone --quiet "$source" "$folder/a-longer-name-than-that-of-the-first"
cd "$folder"/a*
CCACHE_DISABLE=1 scripts/package >"$folder/log" 2>&1 || {
  tail --lines=40 "$folder/log"
  exit 1
}
same=0
for file in build/package/packages/*; do
  cmp "$file" "$packages/${file##*/}"
  same=$((same + 1))
done
[[ $same != 0 && $(ls build/package/packages) == "$(ls "$packages")" ]] || {
  echo "the second build made other files"
  exit 1
}
echo "$same files, the same in both builds"
