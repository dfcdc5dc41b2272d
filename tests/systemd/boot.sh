#!/bin/sh
# Runs systemd as the first process of a machine: boot.sh FOLDER BASE. It is started in new namespaces.
set -eu
folder=$1
base=$2
root=$folder/root
mount -t overlay overlay -o "lowerdir=$base,upperdir=$folder/upper,workdir=$folder/work" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
# The kernel's settings are those of all machines.
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null zero full random urandom tty; do
    touch "$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ip link set lo up
# systemd hands credentials to services through shared mounts, and leaves it to containers to share them.
cd "$root"
pivot_root . mnt
exec chroot . /usr/bin/env -i container=unshare PATH=/usr/sbin:/usr/bin /bin/sh -c \
    'umount -l /mnt && mount --make-rshared / && exec /lib/systemd/systemd --log-target=journal'
