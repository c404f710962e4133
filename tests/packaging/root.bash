# For tests that use packages in an empty root folder. Sourced as root: goes on in namespaces of its
# own, so that nothing that is started or mounted outlives the test.
# shellcheck shell=bash
set -euo pipefail

[[ $EUID == 0 ]] || {
  echo "to install packages takes root"
  exit 77
}
if [[ -z ${WATTLE_TEST_ROOT:-} ]]; then
  WATTLE_TEST_ROOT=$(mktemp --directory)
  export WATTLE_TEST_ROOT
  status=0
  unshare --mount --pid --mount-proc --uts --ipc --cgroup --fork --kill-child "$0" "$@" || status=$?
  rm -rf "$WATTLE_TEST_ROOT"
  exit "$status"
fi
root=$WATTLE_TEST_ROOT/root
mkdir -p "$root"

wrong() {
  echo "does not hold: $*"
  exit 1
}
# check WORDS... -- COMMAND...: the command succeeds.
check() {
  local what=()
  while [[ $1 != -- ]]; do
    what+=("$1")
    shift
  done
  shift
  "$@" >"$WATTLE_TEST_ROOT/output" 2>&1 || {
    cat "$WATTLE_TEST_ROOT/output"
    wrong "${what[*]}"
  }
}
# in_root COMMAND...: beside the process $init, if that is set.
in_root() {
  local enter=(chroot "$root")
  [[ -z ${init:-} ]] || enter=(nsenter --target="$init" --mount --pid --root --wd=/)
  "${enter[@]}" env -i HOME=/root LANG=C.UTF-8 \
    PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

# eventually WORDS... -- COMMAND...: the command succeeds within a minute.
eventually() {
  local what=() tries=600
  while [[ $1 != -- ]]; do
    what+=("$1")
    shift
  done
  shift
  until "$@" >"$WATTLE_TEST_ROOT/output" 2>&1; do
    ((tries-- > 0)) || {
      cat "$WATTLE_TEST_ROOT/output"
      wrong "${what[*]}"
    }
    sleep 0.1
  done
}

# In $root: the folders that a kernel shows, and no device but those that every program has.
mount_system() {
  mkdir -p "$root"/{proc,run,sys,tmp,dev}
  mount -t proc proc "$root/proc"
  mount -t tmpfs -o mode=755 tmpfs "$root/run"
  mount -t tmpfs tmpfs "$root/tmp"
  mount -t tmpfs -o mode=755 tmpfs "$root/dev"
  mknod -m 666 "$root/dev/null" c 1 3
  mknod -m 666 "$root/dev/zero" c 1 5
  mknod -m 666 "$root/dev/random" c 1 8
  mknod -m 666 "$root/dev/urandom" c 1 9
  mknod -m 666 "$root/dev/tty" c 5 0
}

# In $root: glibc as it is installed here, and a static busybox for everything else.
make_smallest_root() {
  mkdir -p "$root"/{bin,etc}
  dpkg --listfiles libc6 | grep --extended-regexp '/(lib(c|m)\.so\.6|libresolv\.so\.2|ld-linux[^/]*)$' |
    while read -r file; do install -D "$file" "$root$file"; done
  for loader in /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1; do
    [[ ! -e $loader ]] || install -D "$loader" "$root$loader"
  done
  install "$(command -v busybox)" "$root/bin/busybox"
  chroot "$root" /bin/busybox --install -s /bin
}

# In $root/fake/sys: the energy counter of one package, which root alone may read.
make_fake_counter() {
  local zone=$root/fake/sys/class/powercap/intel-rapl:0
  mkdir -p "$zone"
  echo package-0 >"$zone/name"
  echo 262143328850 >"$zone/max_energy_range_uj"
  echo 1000000 >"$zone/energy_uj"
  chmod 400 "$zone/energy_uj"
}
# Ten joules every tenth of a second, until the test ends.
play_fake_counter() {
  local energy_uj=1000000 zone=$root/fake/sys/class/powercap/intel-rapl:0
  while sleep 0.1; do
    energy_uj=$((energy_uj + 10000000))
    # In place: a reader finds the old number or the new one.
    printf '%s\n' "$energy_uj" | dd of="$zone/energy_uj" conv=notrunc status=none
  done
}
