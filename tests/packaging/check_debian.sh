#!/bin/bash
# In an empty Debian 12: installs the packages in the folder $1 with what they depend on, uses them as
# people do, under systemd, and purges them. Nothing may be left then, except what people made.
# Takes root and Debian's mirror.
source "$(dirname "$0")/root.bash" "$@"
here=$(cd "$(dirname "$0")" && pwd)
packages=$(realpath "$1")
mapfile -t names < <(for file in "$packages"/*.deb; do dpkg-deb --field "$file" Package; done)

# as USER COMMAND...: with all groups of that user, without root's rights.
as() {
  local user=$1
  shift
  in_root setpriv --reuid="$user" --regid="$user" --init-groups env HOME=/tmp "$@"
}
apt() { in_root env DEBIAN_FRONTEND=noninteractive apt-get --yes --no-install-recommends "$@"; }

install_packages() {
  check Debian 12 can be installed -- debootstrap --variant=minbase bookworm "$root"
  mount_system
  mkdir "$root/packages"
  mount --bind "$packages" "$root/packages"
  local files=("$packages"/*.deb)
  check the packages can be installed -- apt install "${files[@]/#$packages/\/packages}"
  grep --quiet 'usermod --append --groups wattle USER' "$WATTLE_TEST_ROOT/output" ||
    wrong "the installation says how to let a user ask the daemon"
  # By who installs nothing more for them: systemd as the first process, a compiler, man, shells.
  check tools can be installed -- apt install systemd-sysv g++ cmake pkg-config make \
    man-db bash-completion fish zsh
}

make_users() {
  in_root useradd --create-home alice
  in_root useradd --create-home bob
  echo kept >"$root/home/alice/power.csv"
}

use_command() {
  local status=0
  as bob wattle doctor --verbose >"$root/tmp/doctor" || status=$?
  [[ $status == [012] ]] || wrong "wattle doctor exits with 0, 1 or 2, not $status"
  grep --quiet '^  reason ' "$root/tmp/doctor" || wrong "wattle doctor names a reason"
  status=0
  as bob wattle run --json /tmp/run.json -- sh -c 'exit 3' 2>/dev/null || status=$?
  [[ $status == 3 ]] || wrong "wattle run exits as its command, with 3, not with $status"
  grep --quiet '"schema": *"wattle.run/2"' "$root/tmp/run.json" || wrong "wattle run writes JSON"
}

# By root too, who may write compiled modules beside the sources.
use_python() {
  check Python measures a block -- as bob python3 -c '
import wattle
with wattle.measure() as m:
    pass
assert m.total_j is not None or m.missing'
  check Python runs a command -- as bob python3 -m wattle run --quiet -- true
  check Python follows the daemons of other machines -- in_root python3 -c '
import wattle.stream, wattle.pytest_plugin, wattle.shim
wattle.stream.Server.tcp("node1")'
  [[ -n $(find "$root/usr/lib/python3/dist-packages/wattle" -name '_measure.*.pyc') ]] ||
    wrong "the modules are compiled when the package is installed"
}

# systemd as the first process of namespaces of its own, without devices, until the test ends.
boot() {
  mkdir "$root"/sys/fs 2>/dev/null || true
  mount -t tmpfs -o mode=755 tmpfs "$root/sys"
  mkdir -p "$root"/sys/fs/cgroup/{systemd,unified}
  if [[ $(stat --file-system --format=%T /sys/fs/cgroup) == cgroup2fs ]]; then
    mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
  else
    mount -t cgroup -o none,name=systemd cgroup "$root/sys/fs/cgroup/systemd"
    mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup/unified"
  fi
  umount "$root/proc"
  # Units have mounts of their own: that takes a root that is a mount point, not a changed root.
  # shellcheck disable=SC2016  # the inner shell expands it
  unshare --mount --pid --fork --kill-child sh -ec '
    mount --rbind "$1" "$1"
    cd "$1"
    mount -t proc proc proc
    pivot_root . .
    umount --lazy .
    exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin \
      /lib/systemd/systemd --system --unit=basic.target' \
    boot "$root" </dev/null >"$WATTLE_TEST_ROOT/boot.log" 2>&1 &
  local unshared=$!
  eventually systemd starts -- pgrep --parent "$unshared"
  init=$(pgrep --parent "$unshared")
  eventually systemd answers -- in_root systemctl is-active basic.target
}
start_daemon() {
  make_fake_counter
  play_fake_counter &
  mkdir -p "$root/etc/systemd/system/wattled.service.d"
  printf '[Service]\nEnvironment=WATTLE_SYSFS=/fake/sys\n' \
    >"$root/etc/systemd/system/wattled.service.d/test.conf"
  ! in_root systemctl is-active --quiet wattled.socket || wrong "installing starts nothing"
  in_root systemctl daemon-reload
  in_root systemctl enable --now wattled.socket wattled.service || {
    in_root journalctl --no-pager --unit=wattled
    wrong "the units start"
  }
  in_root usermod --append --groups wattle alice
}

# What the unit takes from its daemon is taken, and what it leaves is enough for the counter.
check_confinement() {
  local pid status
  pid=$(in_root systemctl show --property=MainPID --value wattled.service)
  status=$(in_root cat "/proc/$pid/status")
  [[ $(in_root stat --format=%U "/proc/$pid") == wattled ]] || wrong "it runs as wattled"
  grep --quiet '^NoNewPrivs:.*1$' <<<"$status" || wrong "it cannot gain rights"
  grep --quiet '^Seccomp:.*2$' <<<"$status" || wrong "its system calls are filtered"
  # CAP_DAC_READ_SEARCH and CAP_PERFMON
  grep --quiet '^CapEff:.*0000004000000004$' <<<"$status" || wrong "it has two capabilities"
  grep --quiet '^CapBnd:.*0000004000000004$' <<<"$status" || wrong "it can have no other"
  inside() { in_root nsenter --target="$pid" --mount "$@"; }
  ! inside touch /usr/x 2>/dev/null || wrong "it sees a file system that is not to be written"
  [[ -z $(inside ls --almost-all /home) ]] || wrong "it sees no home folder"
  [[ $(in_root readlink "/proc/$pid/ns/net") != "$(in_root readlink /proc/1/ns/net)" ]] ||
    wrong "it has no network but its own"
}

use_daemon() {
  check a member of the group follows the power of the counter -- as alice timeout 60 sh -c '
    wattle stream --json --period 0.1 |
      grep --max-count=1 --extended-regexp "\"domain\": *\"package_0\".*\"power_w\": *[0-9]"'
  as bob wattle doctor --verbose >"$root/tmp/doctor" || true
  grep --quiet 'only members of the group wattle may ask the daemon' "$root/tmp/doctor" ||
    { cat "$root/tmp/doctor" && wrong "who is not in the group is refused, and hears why"; }
}

# An administrator's own options reach the daemon.
set_options() {
  sed --in-place 's/^WATTLED_OPTIONS=.*/WATTLED_OPTIONS="--enable cpu-read"/' "$root/etc/default/wattled"
  check the daemon restarts with options -- in_root systemctl restart wattled.service
  local pid
  pid=$(in_root systemctl show --property=MainPID --value wattled.service)
  [[ $(in_root cat "/proc/$pid/cmdline" | tr '\0' ' ') == *"serve --enable cpu-read "* ]] ||
    wrong "it takes the options of /etc/default/wattled"
}

read_manuals() {
  local page
  for page in wattle wattle-run wattle-stream wattled; do
    check "man shows $page" -- as bob man "$page"
    grep --quiet 'SEE ALSO' "$WATTLE_TEST_ROOT/output" || wrong "the page of $page is whole"
  done
  # As an interactive shell loads it.
  # shellcheck disable=SC2016  # the inner shell expands them
  check bash completes -- as bob bash -c '
    . /usr/share/bash-completion/bash_completion
    _completion_loader wattle
    COMP_WORDS=(wattle sens) COMP_CWORD=1
    _wattle
    [[ ${COMPREPLY[*]} == sensors ]]'
  check fish completes -- as bob sh -c "fish --command \"complete --do-complete 'wattle sens'\" |
    grep '^sensors'"
  check zsh finds its completion -- as bob zsh -f -c 'autoload -Uz +X _wattle'
}

build_programs() {
  mkdir "$root/tmp/consumer"
  cp "$here"/../consumer/project/* "$root/tmp/consumer"
  # shellcheck disable=SC2016  # the shell in the root expands them
  check programs build by pkg-config, and run -- in_root sh -ec '
    cd /tmp/consumer
    for component in "" -stream -mongodb; do
      source=${component#-}
      c++ -std=c++20 "${source:-main}.cpp" $(pkg-config --cflags --libs "wattle$component") -o program
      ./program
    done'
  check programs build by CMake, and run -- in_root sh -ec '
    cmake -S /tmp/consumer -B /tmp/consumer/build
    cmake --build /tmp/consumer/build
    /tmp/consumer/build/consumer
    cmake -S /tmp/consumer -B /tmp/consumer/stream -DWITH_STREAM=ON
    cmake --build /tmp/consumer/stream
    /tmp/consumer/stream/stream_consumer'
}

purge() {
  check the packages can be purged -- apt purge "${names[@]}"
  ! in_root systemctl is-active --quiet wattled.service || wrong "the daemon was stopped"
  # Made by an administrator, in this test.
  rm -r "$root/etc/systemd/system/wattled.service.d"
  local left
  left=$(cd "$root" && find . -xdev ! -path './packages/*' ! -path './tmp/*' -iname '*wattle*' &&
    grep wattle etc/passwd etc/group etc/shadow etc/gshadow) || true
  [[ -z $left ]] || wrong "nothing is left, except: $left"
  [[ $(cat "$root/home/alice/power.csv") == kept ]] || wrong "files of users are kept"
}

install_packages
make_users
use_command
use_python
read_manuals
build_programs
boot
start_daemon
check_confinement
use_daemon
set_options
purge
echo "installed, used and purged: ${names[*]}"
