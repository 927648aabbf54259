import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { archive, Bench, jobFor, seenByRuns } from './support.ts';

/** Modules in private Git repositories, fetched by Terraform with `git`, which runs this program instead of ssh. */

const bench = Bench.use();
let sshKey: string;
let publicKey: string;

let tools: string;
let seen: string;
let pipe: number;
beforeEach(() => {
  tools = mkdtempSync(join(seenByRuns, 'ssh-tools-'));
  // A pipe, because Terraform's user cannot write a file there.
  seen = join(tools, 'seen');
  execFileSync('mkfifo', [seen]);
  pipe = openSync(seen, constants.O_RDWR | constants.O_NONBLOCK);
  // Test double of ssh: records its arguments, the usable keys and any private key that it can read, then fails as with
  // an unreachable host.
  writeFileSync(
    join(tools, 'ssh'),
    `#!/bin/sh
echo "$@" >> ${seen}
for option; do case $option in IdentityAgent=*) export SSH_AUTH_SOCK=\${option#*=};; esac; done
ssh-add -L > "$TMPDIR/key.pub" 2>&1 && ssh-add -T "$TMPDIR/key.pub" && cat "$TMPDIR/key.pub" >> ${seen}
${thief()}
exit 255
`,
  );
  const key = join(tools, 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'of-the-workspace', '-f', key]);
  sshKey = readFileSync(key, 'utf8').replaceAll('\n', '\r\n').trim();
  publicKey = readFileSync(`${key}.pub`, 'utf8').trim();
  rmSync(key);
  chmodSync(join(tools, 'ssh'), 0o755);
  chmodSync(tools, 0o777);
  chmodSync(seen, 0o666);
});
afterEach(() => {
  closeSync(pipe);
  rmSync(tools, { recursive: true, force: true });
});

/**
 * Searches the run's folder and the ssh-agent's memory for the private key, from the folder of the configuration or of
 * a module.
 */
const thief = (): string => `{
  for above in .. ../.. ../../.. ../../../..; do grep -rhaE 'PRIVATE KEY|^b3BlbnNzaC1rZXk' $above/ssh; done
  for process in $(ps -e -o pid=,comm= | sed -n 's/ ssh-agent$//p'); do
    head -c 1 /proc/$process/environ && echo the memory of the agent
  done
  echo looked
} >> ${seen} 2>/dev/null`;

let lastLog = '';
const readSeen = (): string => {
  const bytes = Buffer.alloc(64 * 1024);
  try {
    return bytes.toString('utf8', 0, readSync(pipe, bytes));
  } catch (error) {
    throw new Error(`no program has written to the pipe; log of the run:\n${lastLog}`, { cause: error });
  }
};

const module = archive({ 'main.tf': 'module "a" {\n  source = "git::ssh://git@host.test/acme/a.git"\n}\n' });
const run = async (options: Parameters<typeof jobFor>[2], settings: Record<string, string> = {}) => {
  const job = jobFor(bench.plane, await module, options);
  const done = await bench.run(job, { PATH: `${tools}:${process.env.PATH}`, ...settings });
  lastLog = done.log;
  return done;
};

it.each<Record<string, string>>([{}, { STEPFORM_ROOMS: 'none' }])(
  'modules are fetched with an SSH key that no program can copy: %j',
  async (settings) => {
    const { report } = await run({ sshKey }, settings);
    expect(report).toMatchObject({ outcome: 'errored' });
    const call = readSeen();
    expect(call).toMatch(/^-o IdentityAgent=\S+\/ssh\/agent .*IdentityFile=none .*BatchMode=yes .*git@host\.test/);
    expect(call).toContain(`\n${publicKey}\nlooked\n`);
    expect(bench.leftovers()).toEqual([]);
  },
);

it.each([
  ['PATH', () => [['PATH', `${tools}/evil:${process.env.PATH}`]]],
  [
    "git's configuration",
    () => [
      ['GIT_CONFIG_COUNT', '2'],
      ['GIT_CONFIG_KEY_0', 'protocol.ext.allow'],
      ['GIT_CONFIG_VALUE_0', 'always'],
      ['GIT_CONFIG_KEY_1', `url.ext::${tools}/evil/ssh .insteadOf`],
      ['GIT_CONFIG_VALUE_1', 'ssh://'],
    ],
  ],
])('programs that variables name get no key to copy: %s', async (_, variables) => {
  execFileSync('mkdir', ['-m', '755', join(tools, 'evil')]);
  writeFileSync(join(tools, 'evil/ssh'), `#!/bin/sh\n${thief()}\nexit 1\n`, { mode: 0o755 });
  const chosen = variables().map(([key = '', value = '']) => ({ key, value, category: 'env' as const }));
  await run({ sshKey, variables: chosen });
  expect(readSeen()).toMatch(/^(looked\n)+$/);
});

it('a program that the configuration names gets no key to copy', async () => {
  execFileSync('mkdir', ['-m', '755', join(tools, 'evil')]);
  writeFileSync(join(tools, 'evil/ssh'), `#!/bin/sh\n${thief()}\nexit 1\n`, { mode: 0o755 });
  const own = await archive({
    'main.tf': 'module "a" {\n  source = "git::ssh://git@host.test/acme/a.git"\n}\n',
    '.git/HEAD': 'ref: refs/heads/main\n',
    '.git/objects/a': '',
    '.git/refs/a': '',
    '.git/config': `[protocol "ext"]\nallow = always\n[url "ext::${tools}/evil/ssh "]\ninsteadOf = ssh://\n[core]\nrepositoryformatversion = 0\n`,
  });
  await bench.run(jobFor(bench.plane, own, { sshKey }), { PATH: `${tools}:${process.env.PATH}` });
  const call = readSeen();
  expect(call).toContain('looked\n');
  expect(call).not.toMatch(/PRIVATE KEY|b3BlbnNzaC1rZXk|memory/);
});

it('the log says why a key cannot be used, and the run continues', async () => {
  const { log } = await run({ sshKey: 'no key at all' });
  expect(log).toContain("Modules are fetched without the workspace's SSH key");
  expect(log).toContain('Error loading key "key"');
  expect(readSeen()).toMatch(/git@host\.test/);
});

it('GIT_SSH_COMMAND of the workspace takes precedence', async () => {
  const own = { key: 'GIT_SSH_COMMAND', value: 'ssh -o Own=yes', category: 'env' as const };
  await run({ sshKey, variables: [own] });
  expect(readSeen()).toMatch(/^-o Own=yes .*git@host\.test/);
});

it('a program in the workspace’s GIT_SSH_COMMAND does not get the key', async () => {
  const own = {
    key: 'GIT_SSH_COMMAND',
    value: `sh -c 'cat ../ssh/key >${seen}; echo looked >${seen}; exit 1'`,
    category: 'env' as const,
  };
  await run({ sshKey, variables: [own] });
  expect(readSeen()).toMatch(/^(looked\n)+$/);
});

it('no key is set by default', async () => {
  await run({});
  const call = readSeen();
  expect(call).toContain('git@host.test');
  expect(call).not.toContain('-i ');
});
