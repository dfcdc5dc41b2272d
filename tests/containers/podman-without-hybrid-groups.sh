#!/bin/sh
# crun refuses machines that have both versions of control groups. So podman gets a view of the machine without the second.
both=/sys/fs/cgroup/unified
[ -d "$both" ] || exec podman "$@"
exec unshare --mount /bin/sh -c 'umount "$0" 2>/dev/null; exec podman "$@"' "$both" "$@"
