import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { printed } from './in-room.ts';
import { notSeparated, separatesUsers } from './plan-code.ts';

/** A run that creates a user namespace (some kernels allow it to every user) has all capabilities in it. */

const makesNamespaces = ((): boolean => {
  try {
    execFileSync('/usr/bin/setpriv', ['--reuid=65534', '--clear-groups', 'unshare', '-Ur', 'true'], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
})();
const note = notSeparated || (makesNamespaces ? '' : ' (skipped: this kernel allows users no namespaces)');
const attack = it.runIf(separatesUsers && makesNamespaces);

/** As root of the namespace. */
const asRoot = (script: string): string => `unshare -Urmpf --mount-proc bash -c '${script}' 2>/dev/null; echo looked`;

attack(`as root of a user namespace a run undoes no mount of its room${note}`, async () => {
  const log = await printed(
    asRoot(`
grep -q "^CapEff:.*f" /proc/self/status && echo "has capabilities"
for mount in $(cut -d" " -f5 /proc/self/mountinfo | sort -u); do
  case $mount in /proc|/sys*|"$PWD"|*/pts) continue;; esac
  mount -o remount,bind,rw $mount && (: >$mount/new) && [ $mount != /tmp ] && [ $mount != /var/tmp ] && [ $mount != /dev/shm ] && echo "wrote to $mount"
  umount $mount && echo "uncovered $mount"
  umount -l $mount && echo "uncovered $mount"
done
mount --bind / /mnt && ls /mnt/tmp | grep . && echo "saw the machine below"
mount -t devtmpfs none /mnt && echo "has devices"
mknod ./disk b 254 0 && echo "made a device"
for file in /proc/sys/kernel/hostname /proc/sysrq-trigger /proc/sys/vm/drop_caches; do (echo 1 >$file) && echo "wrote to $file"; done
find /sys -type f -writable | grep -v "^/sys/fs/cgroup/.*/notify_on_release" | head -3`),
  );
  expect(log).toBe('has capabilities\nlooked\n');
});

attack(`as root of a user namespace a run has the limits of its room${note}`, async () => {
  const log = await printed(
    asRoot(`
ulimit -u unlimited && echo "raised processes"
ulimit -n 1000000 && echo "raised files"
ulimit -f unlimited && echo "raised file size"
for file in $(find /sys/fs/cgroup -name cgroup.procs); do (echo 0 >$file) && echo "left for $file"; done
mkdir /tmp/groups && mount -t cgroup2 none /tmp/groups && (echo $$ >/tmp/groups/cgroup.procs) && echo "left its group"
true`),
  );
  expect(log).toBe('looked\n');
});

const memoryGroup = /^\d+:(?:memory)?:.*stepform/m;
const isBounded = separatesUsers && makesNamespaces && /memory/.test(readFileSync('/proc/cgroups', 'latin1'));

it.runIf(isBounded)(`an in-memory file system of a user namespace counts as memory of the run${note}`, async () => {
  const log = await printed(
    `cat /proc/self/cgroup; ${asRoot('mount -t tmpfs -o size=100% none /mnt && head -c 20M /dev/zero >/mnt/x; for file in /sys/fs/cgroup/memory/stepform/*/memory.usage_in_bytes /sys/fs/cgroup/stepform/*/memory.current; do [ -e $file ] && cat $file; done')}`,
  );
  expect(log).toMatch(memoryGroup);
  const uses = [...log.matchAll(/^(\d{4,})$/gm)].map(([, bytes]) => Number(bytes));
  expect(Math.max(...uses)).toBeGreaterThan(20 * 2 ** 20);
});
