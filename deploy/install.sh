#!/bin/sh
# Installs this checkout as a service, or brings an installed one up to date. Run it again at any time: what is as it
# should be is left alone. docs/deploy.md describes what it makes.
#
#   deploy/install.sh [--root FOLDER] [--uninstall]
#
# --root: install under another root, without users and services, such as for an image.
# --uninstall: stop and remove the service and the program. Settings, keys, data and backups stay.
set -eu

root=
wanted=install
source=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
while [ $# -gt 0 ]; do
    case $1 in
        --root) root=${2:?--root needs a folder}; shift 2 ;;
        --uninstall) wanted=uninstall; shift ;;
        *) echo "install.sh: $1 is no option; see the head of this file" >&2; exit 2 ;;
    esac
done

user=antiphon
program=$root/opt/antiphon
settings=$root/etc/antiphon
units=$root/etc/systemd/system
backups=$root/var/backups/antiphon
# What a release consists of. Pages are there once `make page` has built them.
parts='package.json package-lock.json .npmrc LICENSE generated packages src dist/chat-lab dist/inspector'
# Releases that are kept besides those that a process runs.
kept=3

say() { echo "install.sh: $*"; }
is_live() { [ -z "$root" ]; }

# Prints a name for the contents of the checkout: the version and a sum.
name_release() {
    version=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' "$source/package.json")
    # shellcheck disable=SC2086
    sum=$(cd "$source" && find $parts -type f ! -name '*.test.ts' ! -name '*.fixture.ts' ! -path 'packages/*/dist/*' 2>/dev/null \
        | LC_ALL=C sort | tr '\n' '\0' | xargs -0 sha256sum | sha256sum | cut -c 1-12)
    echo "$version-$sum"
}

make_user() {
    is_live || return 0
    id "$user" >/dev/null 2>&1 && return 0
    useradd --system --user-group --home-dir /var/lib/antiphon --shell /usr/sbin/nologin "$user"
    say "made the user $user"
}

# make_folder MODE OWNER PATH
make_folder() {
    if is_live; then install -d -m "$1" -o "${2%:*}" -g "${2#*:}" "$3"; else install -d -m "$1" "$3"; fi
}

# Builds beside the place and renames, so that a release is there whole or not at all.
make_release() {
    place=$program/releases/$release
    if [ -d "$place" ]; then say "release $release is installed"; return 0; fi
    draft=$program/releases/.draft-$$
    trap 'rm -rf "$draft"' EXIT
    mkdir -p "$draft/bin"
    for part in $parts; do
        [ -e "$source/$part" ] || continue
        mkdir -p "$(dirname "$draft/$part")"
        cp -R "$source/$part" "$draft/$part"
    done
    rm -rf "$draft"/packages/*/dist
    find "$draft" \( -name '*.test.ts' -o -name '*.fixture.ts' \) -exec rm -f {} +
    cp "$source/deploy/systemd/launcher" "$draft/bin/antiphon"
    chmod 755 "$draft/bin/antiphon"
    say "installing packages"
    (cd "$draft" && npm ci --omit=dev --ignore-scripts --loglevel=error --no-progress)
    link_node "$draft/node_modules"
    chmod -R u=rwX,go=rX "$draft"
    mv "$draft" "$place"
    trap - EXIT
    say "installed release $release"
}

# npm 9, which Debian 12 has, makes no links to the programs of optional packages, and Node comes in one.
link_node() {
    for node in "$1"/node-linux-*/bin/node; do
        if [ -x "$node" ] && [ ! -e "$1/.bin/node" ]; then ln -s "../${node#"$1"/}" "$1/.bin/node"; fi
    done
}

# Points the link at the release in one step.
switch_release() {
    [ "$(readlink "$program/current" || true)" = "releases/$release" ] && return 0
    ln -sfn "releases/$release" "$program/current.new"
    mv -T "$program/current.new" "$program/current"
    has_switched=yes
    say "the current release is $release"
}

# Removes old releases. A process that was replaced may still need the files of its release.
remove_old_releases() {
    # The names hold no spaces: name_release makes them.
    # shellcheck disable=SC2012
    ls -1t "$program/releases" | tail -n +$((kept + 1)) | while read -r old; do
        [ "$old" = "$release" ] && continue
        if is_live && is_used "$program/releases/$old"; then continue; fi
        rm -rf "${program:?}/releases/$old"
        say "removed release $old"
    done
}

is_used() {
    for process in /proc/[0-9]*; do
        case $(readlink "$process/exe" 2>/dev/null) in "$1"/*) return 0 ;; esac
        if tr '\0' '\n' <"$process/cmdline" 2>/dev/null | grep -qF "$1/"; then return 0; fi
    done
    return 1
}

# copy_if_other MODE FROM TO: succeeds if the file was changed.
copy_if_other() {
    cmp -s "$2" "$3" && return 1
    install -m "$1" "$2" "$3"
    say "wrote $3"
}

install_units() {
    mkdir -p "$units"
    for unit in "$source"/deploy/systemd/antiphon*.*; do
        if copy_if_other 644 "$unit" "$units/$(basename "$unit")"; then have_units_changed=yes; fi
    done
    mkdir -p "$root/usr/local/bin"
    copy_if_other 755 "$source/deploy/systemd/antiphon-command" "$root/usr/local/bin/antiphon" || true
}

# Settings and keys belong to whoever runs the machine, so they are made once and never touched again.
install_settings() {
    make_folder 750 root:"$user" "$settings"
    make_folder 750 root:"$user" "$settings/credentials"
    [ -e "$settings/.env" ] && return 0
    install -m 640 "$source/deploy/systemd/env.example" "$settings/.env"
    if is_live; then chown root:"$user" "$settings/.env"; fi
    say "wrote $settings/.env"
}

# The key is shown to the person here, and not by the server, which would write it to the journal.
make_first_key() {
    [ -n "$("$root/usr/local/bin/antiphon" keys list)" ] && return 0
    echo
    echo "The first API key, shown this once:"
    "$root/usr/local/bin/antiphon" keys create --name first
    echo
}

start_services() {
    if [ "$have_units_changed" = yes ]; then systemctl daemon-reload; fi
    systemctl enable --quiet antiphon.socket antiphon-speech.socket antiphon.service antiphon-backup.timer
    systemctl start antiphon-backup.timer
    if ! systemctl is-active --quiet antiphon.service; then
        systemctl start antiphon.socket antiphon-speech.socket antiphon.service
        have_units_changed=no
    elif [ "$has_switched" = yes ]; then
        systemctl reload antiphon.service
        say "the processes are being replaced; open streams go on in the old ones"
    fi
    if systemctl is-active --quiet antiphon-stt-cloud.service && [ "$has_switched" = yes ]; then
        systemctl restart antiphon-stt-cloud.service
    fi
    if [ "$have_units_changed" = yes ]; then say "changed units hold from the next: systemctl restart antiphon"; fi
}

uninstall() {
    if is_live; then
        for unit in "$units"/antiphon*.socket "$units"/antiphon*.timer "$units"/antiphon*.service; do
            if [ -e "$unit" ]; then systemctl disable --quiet --now "$(basename "$unit")"; fi
        done
    fi
    for unit in "$source"/deploy/systemd/antiphon*.*; do rm -f "$units/$(basename "$unit")"; done
    if is_live; then systemctl daemon-reload; fi
    rm -f "$root/usr/local/bin/antiphon"
    rm -rf "${program:?}"
    say "removed the service and the program"
    say "these stay: $settings $root/var/lib/antiphon $backups and the user $user"
}

has_switched=no
have_units_changed=no
if is_live && [ "$(id -u)" -ne 0 ]; then say "run it as root"; exit 1; fi
if [ "$wanted" = uninstall ]; then uninstall; exit 0; fi
command -v npm >/dev/null || { say "npm is missing: apt-get install npm"; exit 1; }
release=$(name_release)
make_user
make_folder 755 root:root "$program/releases"
install_settings
make_folder 700 "$user:$user" "$root/var/lib/antiphon"
make_folder 700 "$user:$user" "$backups"
make_release
install_units
switch_release
remove_old_releases
if is_live; then
    make_first_key
    start_services
fi
say "done"
