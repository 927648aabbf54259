import { spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { removeFolder } from '#runner/program/workspace/remove-folder.ts';
import { seenByRuns } from '#test/runner/program/support.ts';
import { notSeparated, separatesUsers } from './plan-code.ts';

/** A process that outlives its runner keeps exchanging a folder for a link while root removes the run's folder. */

const exchange = `
import ctypes, os, platform, sys
call = {'x86_64': 316, 'aarch64': 276}[platform.machine()]
libc = ctypes.CDLL(None)
os.chdir(sys.argv[1])
print('ready', flush=True)
while True:
    for n in range(30):
        folder, link = 'folder%d' % n, 'link%d' % n
        if libc.syscall(call, -100, folder.encode(), -100, link.encode(), 2) == 0: continue
        for make in (lambda: os.mkdir(folder), lambda: open(folder + '/file', 'w').close(), lambda: os.symlink(sys.argv[2], link)):
            try: make()
            except OSError: pass
`;

const user = 65_534;
const files = Array.from({ length: 20 }, (_, n) => `file-${n}`);

it.runIf(separatesUsers)(
  `a link in place of a folder leads its removal to no other file${notSeparated}`,
  async () => {
    const base = mkdtempSync(join(seenByRuns, 'removal-'));
    onTestFinished(() => rmSync(base, { recursive: true }));
    chmodSync(base, 0o711);
    const victim = join(base, 'victim');
    mkdirSync(victim);
    for (const name of files) writeFileSync(join(victim, name), 'of another organization');
    // Node's own rm deletes wrong files within a few of these attempts.
    for (let n = 0; n < 8; n++) {
      const run = join(base, `run-${n}`);
      const configuration = join(run, 'configuration');
      mkdirSync(configuration, { recursive: true });
      chownSync(configuration, user, user);
      const attacker = spawn('/usr/bin/python3', ['-c', exchange, configuration, victim], { uid: user, gid: user });
      const ended = new Promise((resolve) => attacker.once('close', resolve));
      const begun = await Promise.race([new Promise((resolve) => attacker.stdout.once('data', resolve)), ended]);
      expect(String(begun).trim()).toBe('ready');
      for (let tries = 0; tries < 8; tries++) await removeFolder(run).catch(() => {});
      attacker.kill('SIGKILL');
      await ended;
    }
    expect(readdirSync(victim).toSorted()).toEqual(files.toSorted());
  },
  120_000,
);

it('all code that removes folders of killed runs uses this function', () => {
  const root = join(import.meta.dirname, '../..');
  const texts = globSync(['infra/local/aws/ecs/*.ts', 'functions/runner/agent/work.ts'], { cwd: root }).map((file) =>
    readFileSync(join(root, file), 'utf8'),
  );
  expect(texts.some((text) => text.includes('removeFolder('))).toBe(true);
  expect(texts.filter((text) => /recursive: true, force/.test(text))).toEqual([]);
});
