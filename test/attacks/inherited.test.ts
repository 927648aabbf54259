import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, rmSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { newFolder, printed } from './in-room.ts';
import { notSeparated, separatesUsers } from './plan-code.ts';

/** File descriptors and keys that a run inherits from the program that starts it. */

const title = (text: string) => `${text}${notSeparated}`;
const attack = it.runIf(separatesUsers);

attack(title('a file that the shell held open when it started the runner cannot be written by a run'), async () => {
  const lock = join(newFolder(), 'lock');
  const handle = openSync(lock, 'w', 0o600);
  onTestFinished(() => closeSync(handle));
  // As in `exec 200>lock; flock 200; npm start`.
  const log = await printed(
    `bash -c 'for n in 20 200; do echo taken >&$n; readlink /proc/self/fd/$n; done' 2>&1; echo looked`,
    { file: { number: 200, handle } },
  );
  expect(log).toContain('looked');
  expect(log).not.toContain(lock);
  expect(readFileSync(lock, 'utf8')).toBe('');
});

attack(title('a device of the machine that every user may open is not visible to a run'), async () => {
  const device = `/dev/stepform-attack-${process.pid}`;
  execFileSync('mknod', ['-m', '666', device, 'c', '1', '5']);
  onTestFinished(() => rmSync(device));
  const log = await printed(
    `head -c 1 ${device} >/dev/null 2>&1 && echo opened; for file in $(find /dev); do [ -b $file ] && echo $file; [ -c $file ] && echo $file; done | sort; ` +
      'touch /dev/new 2>/dev/null && echo made; (echo x >/dev/full) 2>/dev/null || head -c 2 /dev/urandom | wc -c',
  );
  const devices = ['full', 'null', 'ptmx', 'pts/ptmx', 'random', 'tty', 'urandom', 'zero'].map(
    (name) => `/dev/${name}`,
  );
  expect(log.split('\n').filter((line) => !/^\/dev\/(std|fd)/.test(line))).toEqual([...devices, '2', '']);
});

/** capabilities(7): 24. Without it, even root sets scores that any user may lower. */
const setsScores =
  separatesUsers &&
  (BigInt(`0x${/^CapEff:\s*(\w+)$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1]}`) >> 24n) % 2n === 1n;
const scoreTitle = setsScores || !separatesUsers ? '' : ' (skipped: the capability SYS_RESOURCE is missing)';

it.runIf(setsScores)(
  title(`a run cannot have the kernel end the platform in its place when memory runs out${scoreTitle}`),
  async () => {
    const log = await printed(
      'for n in 0 -500 499; do echo $n >/proc/self/oom_score_adj; done 2>/dev/null; ' +
        'unshare -Ur sh -c "echo 0 >/proc/self/oom_score_adj" 2>/dev/null; cat /proc/self/oom_score_adj',
    );
    expect(log.trim()).toBe('500');
  },
);

const ofAllRooms = [
  '/sys/fs/cgroup/stepform/memory.max',
  '/sys/fs/cgroup/memory/stepform/memory.limit_in_bytes',
].filter(existsSync);
it.runIf(separatesUsers && ofAllRooms.length > 0)(
  title('all runs together leave memory to the platform, for any scores they set'),
  async () => {
    expect(await printed('cat /proc/self/cgroup')).toContain('/stepform/');
    for (const file of ofAllRooms) expect(Number(readFileSync(file, 'latin1'))).toBeLessThanOrEqual(totalmem() * 0.75);
  },
);

const keyctl = ['/usr/bin/keyctl', '/bin/keyctl'].find(existsSync);
it.runIf(separatesUsers && keyctl)(
  `a run neither reads keys of the runner’s session nor leaves any there${keyctl ? notSeparated : ' (skipped: keyutils is not installed)'}`,
  async () => {
    const inSession = (script: string) => ['keyctl', 'session', '-', 'sh', '-c', script, 'sh'];
    const log = await printed(
      'keyctl print %user:of-root 2>&1; keyctl add user of-run x @s; keyctl show @s; echo looked',
      {
        before: inSession(
          'keyctl add user of-root the-secret @s >/dev/null; "$@"; keyctl show @s | sed "s/^/runner: /"',
        ),
      },
    );
    expect(log).toContain('looked');
    expect(log).not.toContain('the-secret');
    expect(log).toMatch(/^runner: .*user: of-root$/m);
    expect(log).toMatch(/user: of-run$/m);
    expect(log).not.toMatch(/^runner: .*of-run/m);
  },
);
