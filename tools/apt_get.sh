#!/bin/sh
# apt-get, which waits up to ten minutes where another one works. DPkg::Lock::Timeout is for the lock of dpkg alone:
# `update` takes that of /var/lib/apt/lists, `install` that of the archives, and neither waits for it by itself.
seconds=${APT_PATIENCE:-600}
while ! said=$(LC_ALL=C apt-get -o DPkg::Lock::Timeout="$seconds" "$@" 2>&1); do
    case $said in
    *"Could not get lock"* | *"Unable to lock"*) ;;
    *) seconds=0 ;;
    esac
    if [ "$seconds" -le 0 ]; then
        echo "$said" >&2
        exit 1
    fi
    [ "$waiting" ] || echo "apt-get $1: another apt works, and is waited for, $seconds seconds at most" >&2
    waiting=yes seconds=$((seconds - 5))
    sleep 5
done
