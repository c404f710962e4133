#!/bin/bash
# Builds fleet/kubernetes/Containerfile with buildah from the archive in the folder $1, and starts the image.
# The base image, which a registry has, is here glibc and busybox under its name.
source "$(dirname "$0")/root.bash" "$@"
packages=$(realpath "$1")
containerfile=$(realpath "$(dirname "$0")/../../fleet/kubernetes/Containerfile")
command -v buildah >/dev/null || {
  echo "skipped: buildah is not installed: run scripts/setup package"
  exit 77
}

export BUILDAH_ISOLATION=chroot CONTAINERS_STORAGE_CONF=$WATTLE_TEST_ROOT/storage.conf
cat >"$CONTAINERS_STORAGE_CONF" <<END
[storage]
driver = "vfs"
graphroot = "$WATTLE_TEST_ROOT/images"
runroot = "$WATTLE_TEST_ROOT/containers"
END

make_smallest_root
mkdir -p "$root/usr/bin"
base=$(sed --quiet 's/^FROM //p' "$containerfile")
container=$(buildah from scratch)
check the base image can be filled -- buildah copy --quiet "$container" "$root" /
check the base image has its name -- buildah commit --quiet "$container" "$base"
check the image can be built -- buildah build --pull-never --tag wattled --file "$containerfile" "$packages"

container=$(buildah from --pull-never wattled)
[[ $(buildah run "$container" -- wattled --version) == "wattled "[0-9]* ]] || wrong "wattled runs in the image"
started=$(buildah inspect --format '{{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.Cmd}} {{.OCIv1.Config.User}}' "$container")
[[ $started == "[wattled] [serve] 0:0" ]] || wrong "the image starts wattled serve as user 0: $started"

make_fake_counter
buildah run --volume "$root/fake/sys:/host/sys:ro" "$container" -- \
  wattled serve --mode=tcp --tcp-bind-address=127.0.0.1:4938 --user=root --sysfs=/host/sys \
  >"$WATTLE_TEST_ROOT/log" 2>&1 &
eventually the daemon in the image answers -- busybox wget -q -O - http://127.0.0.1:4938/discover
grep --quiet '"cpu_ids":\[0\]' "$WATTLE_TEST_ROOT/output" || wrong "it found the counter of the host"
kill %%
wait %% 2>/dev/null || true
echo "the image runs: $base with $(basename "$packages"/wattle-*.tar.gz)"
