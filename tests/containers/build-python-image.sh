#!/bin/sh
# Makes an image of this machine's own Python, because tests fetch none: build-python-image.sh PODMAN NAME
set -eu
podman=$1
image=$2
"$podman" image exists "$image" && exit 0
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
python=$(readlink -f /usr/bin/python3)
library=/usr/lib/$(basename "$python")
mkdir -p "$root/usr/bin" "$root/usr/lib" "$root/usr/lib64" "$root/mnt/data" "$root/tmp" "$root/proc" "$root/dev" "$root/sys" "$root/etc"
ln -s usr/bin "$root/bin"
ln -s usr/lib "$root/lib"
ln -s usr/lib64 "$root/lib64"
cp "$python" "$root/usr/bin/python3"
cp -L /bin/sh "$root/usr/bin/sh"
for name in sleep grep head wc yes ls cat setsid nohup timeout id env; do
  cp -L "/usr/bin/$name" "$root/usr/bin/"
done
cp -a "$library" "$root/usr/lib/"
for file in "$root"/usr/bin/* "$root$library"/lib-dynload/*.so; do
  ldd "$file" 2>/dev/null | grep -o '/[^ ]*' || true
done | sort -u | while read -r name; do
  place=$root$(echo "$name" | sed 's#^/lib#/usr/lib#')
  mkdir -p "$(dirname "$place")"
  cp -L "$name" "$place"
done
tar -C "$root" -c . | "$podman" import --quiet - "$image" >/dev/null
