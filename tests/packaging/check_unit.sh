#!/bin/sh
# Checks the units in the folder $1: that systemd understands them, and that wattled.service is
# confined as promised.
set -eu

# What systemd calls an exposure of 1.0, of 10 at most.
readonly most_exposure=10

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
# The program need not be installed for its unit to be right.
sed 's|^ExecStart=.*|ExecStart=/bin/true|' "$1/wattled.service" >"$folder/wattled.service"
cp "$1/wattled.socket" "$folder"

# Words about other units of this machine are none about ours.
said=$(systemd-analyze verify --man=no "$folder/wattled.service" "$folder/wattled.socket" 2>&1 |
  grep wattled || true)
if [ -n "$said" ]; then
  echo "$said"
  exit 1
fi
systemd-analyze security --offline=true --no-pager --threshold=$most_exposure \
  "$folder/wattled.service"
