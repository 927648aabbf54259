import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { totalmem } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Control } from '#runner/program/control.ts';
import { outputOf, run } from '#runner/program/terraform/process.ts';
import { environmentScript } from '#runner/program/terraform/room.ts';
import type { User } from '#runner/program/terraform/users.ts';
import { give } from '#runner/program/workspace/tree.ts';
import { until } from '../until.ts';
import { isRoot, newUsers } from './new-users.ts';

/** For both versions of control groups. */
const groupFolders = ['/sys/fs/cgroup', '/sys/fs/cgroup/pids', '/sys/fs/cgroup/memory'];
const hasGroups = groupFolders.some((folder) => existsSync(join(folder, 'stepform')));

interface Scene {
  folder: string;
  plan: User;
  /** The output of a shell in a room. */
  sh(script: string, environment?: Record<string, string>): Promise<string>;
}

const scene = (): Scene => {
  const { plan, folder } = newUsers();
  const directory = join(folder, 'configuration');
  mkdirSync(directory, { mode: 0o700 });
  give(directory, plan.owner);
  const base = { PATH: process.env.PATH ?? '' };
  const sh: Scene['sh'] = (script, environment = {}) =>
    outputOf(
      { path: '/bin/sh', args: ['-c', script], directory, environment: { ...base, ...environment }, user: plan },
      30_000,
    );
  return { folder, plan, sh };
};

describe.runIf(isRoot)('in a room', () => {
  it('a command sees only its own processes', async () => {
    const pids = (await scene().sh('ls /proc | grep "^[0-9]"')).trim().split('\n');
    expect(pids.length).toBeLessThan(8);
  });

  it('a command has exactly the given variables, regardless of their names and values', async () => {
    const own = { PS1: '$', PS4: '$(id)', ENV: '/etc/passwd', IFS: 'x', BASH_ENV: '/etc/passwd' };
    const environment = { A: "it's\n$(id) `x`", 'TF_VAR_with-hyphen': 'b c', EMPTY: '', HOME: '/nowhere', ...own };
    const { plan, folder } = scene();
    const text = await outputOf(
      { path: '/usr/bin/env', args: ['-0'], directory: folder, environment, user: plan },
      30_000,
    );
    const entries = text.split('\0').filter((entry) => entry && !/^(_|PWD|OLDPWD|SHLVL)=/.test(entry));
    expect(Object.fromEntries(entries.map((entry) => entry.split(/=(.*)/s).slice(0, 2)))).toEqual(environment);
  });

  it('values of variables are on no command line, also those that a shell reads itself', () => {
    const values = {
      AWS_SECRET_ACCESS_KEY: 'secret-1',
      ENV: 'secret-2',
      IFS: 'secret-3',
      PS1: 'secret-4',
      PWD: 'secret-5',
    };
    const [, started] = environmentScript(values).split(/\nexec /);
    expect(started).toBe('"$@" </dev/null\n');
  });

  it('a command has no capability, cannot gain one, and runs as a user with a name', async () => {
    const { sh, plan } = scene();
    const text = await sh('grep -E "^(Cap|NoNewPrivs|Groups)" /proc/self/status; id -un; id -u');
    for (const set of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb']) expect(text).toMatch(new RegExp(`^Cap${set}:\t0{16}$`, 'm'));
    expect(text).toMatch(/^NoNewPrivs:\t1$/m);
    expect(text).toMatch(new RegExp(`^terraform-plan\n${plan.owner?.uid}$`, 'm'));
  });

  it('files can be written in the run’s folder and in temporary folders that end with the command, but not elsewhere', async () => {
    const { sh, folder } = scene();
    const written = await sh(
      `touch here /tmp/stepform-a /var/tmp/stepform-a /dev/shm/stepform-a || exit 9
       find /run /var /etc /srv /opt /mnt /dev -xdev -type d -perm -0002 2>/dev/null | while read -r folder; do
         case "$folder" in /tmp|/var/tmp|/dev/shm) continue;; esac
         (: >"$folder/stepform-a") 2>/dev/null && echo "$folder"
       done; for folder in /run/lock /dev/mqueue /dev /run; do (: >"$folder/stepform-a") 2>/dev/null && echo "$folder"; done; echo done`,
    );
    expect(written.trim()).toBe('done');
    expect(existsSync(join(folder, 'configuration/here'))).toBe(true);
    for (const path of ['/tmp', '/var/tmp', '/dev/shm']) expect(existsSync(join(path, 'stepform-a'))).toBe(false);
    expect(await sh('ls /tmp/stepform-a /var/tmp/stepform-a /dev/shm/stepform-a 2>/dev/null; echo done')).toBe(
      'done\n',
    );
  });

  it('a command starts although a mount of the machine ends while its room is created', async () => {
    const { sh, plan } = scene();
    const place = mkdtempSync('/var/lib/stepform-mount-');
    chmodSync(place, 0o755);
    execFileSync('mount', ['-t', 'tmpfs', 'none', place]);
    const { room } = plan;
    if (!room) throw new Error('no room');
    const command = room.command.bind(room);
    vi.spyOn(room, 'command').mockImplementationOnce((...all) => {
      const made = command(...all);
      execFileSync('umount', [place]);
      rmSync(place, { recursive: true });
      return made;
    });
    expect(await sh('echo begun')).toBe('begun\n');
    expect(existsSync(place)).toBe(false);
  });

  it('a command finds all mounts of the machine read-only', async () => {
    const { sh, plan } = scene();
    expect(plan.room?.writableIn(await sh('cat /proc/self/mountinfo'))).toEqual([]);
    expect(plan.room?.writableIn(readFileSync('/proc/self/mountinfo', 'utf8'))).toContain('/');
  });

  const disk = (path: string): string => {
    mkdirSync(path, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=1777', 'room-test', path]);
    onTestFinished(() => void execFileSync('umount', [path]));
    return path;
  };

  it('folders that the operator lists can be written, and disks below them only if they are listed too', async () => {
    const above = mkdtempSync('/srv/room-test-');
    onTestFinished(() => rmSync(above, { recursive: true }));
    chmodSync(above, 0o777);
    const listed = [above, disk(join(above, 'listed'))];
    disk(join(above, 'below'));
    const { plan, folder } = newUsers({ roomFolders: listed });
    const script = 'for path in . listed below; do touch $path/a && echo $path; done; grep "$PWD" /proc/self/mounts';
    const args = ['-c', `cd ${above}; ${script}`];
    const command = { path: '/bin/sh', args, directory: folder, user: plan };
    const text = await outputOf({ ...command, environment: { PATH: '/usr/bin:/bin' } }, 30_000);
    expect(text).toMatch(/^\.\nlisted\ntouch: .*below.*Read-only file system\n/);
    const optionsOf = (path: string) =>
      text
        .split('\n')
        .findLast((line) => line.split(' ')[1] === path)
        ?.split(' ')[3]
        ?.split(',')
        .slice(0, 3);
    for (const path of listed) expect(optionsOf(path), path).toEqual(['rw', 'nosuid', 'nodev']);
  });

  it('temporary folders are limited, and their files give no user another’s rights', async () => {
    const text = await scene().sh('cat /proc/self/mounts');
    for (const path of ['/tmp', '/var/tmp', '/dev/shm'])
      expect(text).toMatch(new RegExp(`^stepform-room ${path} tmpfs rw,nosuid,nodev,.*size=`, 'm'));
  });

  it('System V and POSIX queues and shared memory end with the command', async () => {
    const { sh } = scene();
    expect(await sh('ipcmk -M 4096 -Q -S 1 >/dev/null && ipcs | grep -c 0x')).toBe('3\n');
    expect(await sh('ipcs | grep 0x; echo none')).toBe('none\n');
  });

  it('open files, processes and file sizes are limited', async () => {
    const text = await scene().sh('cat /proc/self/limits; cat /proc/self/oom_score_adj');
    expect(text).toMatch(/^Max core file size\s+0 /m);
    expect(text).toMatch(/^Max processes\s+4096 /m);
    expect(text).toMatch(/^Max open files\s+\d{4,5} /m);
    expect(text).toMatch(/^Max file size\s+17179869184 /m);
    expect(text).toMatch(/^500$/m);
  });

  it('a device that the operator lists exists', async () => {
    const { plan, folder } = newUsers({ roomFolders: ['/dev/loop-control'] });
    const script = 'stat -c "%F" /dev/loop-control; ls /dev | grep -c loop';
    const environment = { PATH: process.env.PATH ?? '' };
    expect(
      await outputOf({ path: '/bin/sh', args: ['-c', script], directory: folder, environment, user: plan }, 30_000),
    ).toBe('character special file\n1\n');
  });

  it('terminals are separate and limited', async () => {
    const script =
      'n=0; for i in $(seq 10 200); do eval "exec $i<>/dev/ptmx" 2>/dev/null || break; n=$((n + 1)); done; echo $n; ls /dev/pts';
    const { plan, folder } = scene();
    const command = { path: '/bin/bash', args: ['-c', script], directory: folder, environment: {}, user: plan };
    const [opened, ...shown] = (await outputOf({ ...command, environment: { PATH: '/usr/bin:/bin' } }, 30_000))
      .trim()
      .split('\n');
    expect(Number(opened)).toBeLessThan(70);
    expect(shown.length).toBeLessThan(70);
  });

  it.runIf(hasGroups)(
    'processes and memory of all rooms are limited in control groups, which are removed with the run',
    async () => {
      const { sh, folder, plan } = scene();
      expect(await sh('cat /proc/self/cgroup')).toContain(`stepform/${basename(folder)}`);
      const groups = groupFolders.map((above) => join(above, 'stepform', basename(folder))).filter(existsSync);
      expect(groups.length).toBeGreaterThan(0);
      for (const file of ['pids.max', 'memory.max', 'memory.limit_in_bytes'])
        for (const group of groups.filter((one) => existsSync(join(one, file))))
          expect(Number(readFileSync(join(group, file), 'latin1')), file).toBeLessThan(totalmem());
      plan.room?.close();
      expect(groups.filter(existsSync)).toEqual([]);
    },
  );

  it('exit codes are the command’s, and null when a signal ended it', async () => {
    const { plan, folder } = scene();
    const ended = (script: string) =>
      run(
        { path: '/bin/sh', args: ['-c', script], directory: folder, environment: {}, user: plan, output: () => {} },
        new Control(),
      );
    expect((await ended('exit 2')).code).toBe(2);
    expect((await ended('kill -KILL $$')).code).toBeNull();
  });

  it('output goes to a file that only root can open, and errors are separate', async () => {
    const { plan, folder } = scene();
    const file = join(folder, 'out.json');
    const command = { path: '/bin/sh', args: ['-c', 'echo out; echo err >&2'], directory: folder, environment: {} };
    expect(await run({ ...command, user: plan, output: { file } }, new Control())).toEqual({
      code: 0,
      errors: 'err\n',
    });
    expect(readFileSync(file, 'utf8')).toBe('out\n');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('a command fails with the remedy if the room cannot be created', async () => {
    const { plan, folder, sh } = scene();
    await sh('echo first');
    writeFileSync(join(folder, 'room/fstab-1'), 'nothing /nowhere/at/all none bind 0 0\n');
    await expect(sh('echo started')).rejects.toThrow(
      /The room for Terraform could not be created: .*STEPFORM_ROOMS=none/s,
    );
    expect(plan.busy).toBe(false);
  });

  it('all processes end when the runner is killed', async () => {
    const seconds = `86400.${process.pid}`;
    const worker = fileURLToPath(new URL('room-worker.ts', import.meta.url));
    const { folder } = scene();
    const runner = spawn(process.execPath, [worker, folder, `(setsid sleep ${seconds} &) ; sleep ${seconds}`], {
      stdio: 'inherit',
    });
    const sleepers = () =>
      readdirSync('/proc').filter((pid) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, 'latin1') === `sleep\0${seconds}\0`;
        } catch {
          return false;
        }
      }).length;
    await until('both sleep', () => sleepers() === 2);
    runner.kill('SIGKILL');
    await until('none sleeps', () => sleepers() === 0);
  });
});

describe.runIf(isRoot)('a separate user on a machine without rooms', () => {
  it('gets no new privileges, no capability, and the same limits', async () => {
    const { plan, folder } = newUsers({ rooms: false });
    expect(plan.room).toBeUndefined();
    const script = 'grep -E "^(CapEff|NoNewPrivs)" /proc/self/status; cat /proc/self/limits /proc/self/oom_score_adj';
    const command = { path: '/bin/sh', args: ['-c', script], directory: folder, user: plan };
    const text = await outputOf({ ...command, environment: { PATH: '/usr/bin:/bin' } }, 30_000);
    expect(text).toMatch(/^CapEff:\t0{16}$/m);
    expect(text).toMatch(/^NoNewPrivs:\t1$/m);
    expect(text).toMatch(/^Max core file size\s+0 /m);
    expect(text).toMatch(/^Max processes\s+4096 /m);
    expect(text).toMatch(/^Max file size\s+17179869184 /m);
    expect(text).toMatch(/^500$/m);
  });
});
