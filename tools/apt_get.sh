#!/bin/sh
# apt-get, as root, that waits up to ten minutes where another one works: DPkg::Lock::Timeout covers the lock of dpkg, but
# not that of /var/lib/apt/lists, which `update` takes, and not that of the archives.
seconds=${APT_PATIENCE:-600}
until said=$(LC_ALL=C apt-get -o DPkg::Lock::Timeout="$seconds" "$@" 2>&1); do
    case $said in
    *"Could not get lock"* | *"Unable to lock"*) ;;
    *) break ;;
    esac
    [ "$seconds" -gt 0 ] || break
    [ "$waiting" ] || echo "apt-get $1: another apt works, and is waited for, $seconds seconds at most" >&2
    waiting=yes seconds=$((seconds - 5))
    sleep 5
done && exit
echo "$said" >&2
exit 1
