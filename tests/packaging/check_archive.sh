#!/bin/bash
# Installs the archive in the folder $1 for a user, in a root that holds glibc and busybox alone: its
# programs run there, need no newer glibc than its name says, and are gone when they are removed.
source "$(dirname "$0")/root.bash" "$@"
archive=$(echo "$1"/wattle-*.tar.gz)
# The archive's promise. A new compiler that needs more is a change for the changelog.
readonly newest_glibc=2.36

[[ $archive == *-linux-"$(uname --machine)"-glibc$newest_glibc.tar.gz ]] ||
  wrong "the archive's name says that it needs glibc $newest_glibc: $archive"

mkdir -p "$root/home/alice"
tar --extract --gzip --file "$archive" --directory "$root/home/alice"
name=$(basename "$archive" .tar.gz)
[[ $(ls "$root/home/alice") == "$name" ]] || wrong "the archive holds one folder, $name"

unpacked=$root/home/alice/$name
brought=$(ls "$unpacked/lib/wattle")
for program in "$unpacked"/bin/* "$unpacked"/lib/wattle/*; do
  needs=$(objdump --private-headers "$program" | sed -n 's/^ *NEEDED *//p' |
    grep --extended-regexp --invert-match '^(libc|libm|libresolv|ld-linux.*)\.so\.[0-9]+$') || true
  case ${program##*/} in
  wattle | wattled) [[ -z $needs ]] || wrong "$program needs glibc alone, not $needs" ;;
  *)
    ! others=$(grep --line-regexp --fixed-strings --invert-match "$brought" <<<"$needs") ||
      [[ -z $others ]] || wrong "$program needs glibc and lib/wattle, not $others"
    ;;
  esac
  symbols=$(objdump --dynamic-syms "$program" | grep --only-matching --extended-regexp 'GLIBC_[0-9.]+')
  newest=$(printf '%s\n' "$symbols" "GLIBC_$newest_glibc" | sort --version-sort | tail --lines=1)
  [[ $newest == "GLIBC_$newest_glibc" ]] || wrong "$program runs on glibc $newest_glibc: it uses $newest"
done

make_smallest_root
echo 'alice:x:1000:1000::/home/alice:/bin/sh' >"$root/etc/passwd"
echo 'alice:x:1000:' >"$root/etc/group"
chown -R 1000:1000 "$root/home/alice"
mount_system
as_alice() {
  chroot --userspec=1000:1000 --groups= "$root" \
    /bin/env -i HOME=/home/alice PATH=/home/alice/.local/bin:/bin "$@"
}

check the archive can be installed -- as_alice "/home/alice/$name/install-user"
[[ $(as_alice wattle --version) == "wattle "[0-9]* ]] || wrong "wattle runs"
for file in man/man1/wattle-run.1.gz man/man8/wattled.8.gz bash-completion/completions/wattle \
  fish/vendor_completions.d/wattled.fish zsh/site-functions/_wattle; do
  [[ -s $root/home/alice/.local/share/$file ]] || wrong "share/$file is installed"
done
status=0
as_alice wattle doctor >"$root/tmp/doctor" || status=$?
[[ $status == [012] ]] || wrong "wattle doctor exits with 0, 1 or 2, not with $status"
status=0
as_alice wattle run --json /tmp/run.json -- sh -c 'exit 3' 2>/dev/null || status=$?
[[ $status == 3 ]] || wrong "wattle run exits as its command, with 3, not with $status"
grep --quiet '"schema": *"wattle.run/2"' "$root/tmp/run.json" || wrong "wattle run writes JSON"

make_fake_counter
chmod 444 "$root/fake/sys/class/powercap/intel-rapl:0/energy_uj"
# shellcheck disable=SC2016  # the shell in the root expands it
as_alice env WATTLE_SYSFS=/fake/sys sh -c 'echo $$ >/tmp/pid
  exec wattled serve --socket-path /tmp/wattled.sock --mode uds,tcp' 2>"$root/tmp/log" &
eventually the daemon answers over TCP -- \
  as_alice wget -q -O - http://127.0.0.1:4938/discover
grep --quiet '"cpu_ids":\[0\]' "$WATTLE_TEST_ROOT/output" || wrong "the daemon found the counter"
as_alice env WATTLE_SOCK_PATH=/tmp/wattled.sock wattle doctor --verbose >"$root/tmp/doctor" || true
grep --quiet '^readable: package_0' "$root/tmp/doctor" ||
  { cat "$root/tmp/doctor" && wrong "wattle reads CPU energy through the daemon"; }
# shellcheck disable=SC2016  # the shell in the root expands it
as_alice sh -c 'wattle stream --period 0.05 --json unix:/tmp/wattled.sock & sleep 2; kill -INT $!' \
  >"$root/tmp/stream" 2>"$root/tmp/stream.err" || true
grep --quiet '"package_0"\|cpu' "$root/tmp/stream" ||
  { cat "$root/tmp/stream" "$root/tmp/stream.err" && wrong "wattle stream follows the daemon"; }
kill "$(cat "$root/tmp/pid")"
wait %% || wrong "the daemon ends when it is asked to"

check what was installed can be removed -- as_alice "/home/alice/$name/install-user" --remove
left=$(find "$root/home/alice/.local" ! -type d)
[[ -z $left ]] || wrong "nothing is left, except: $left"
echo "runs with glibc $newest_glibc alone: $name"
