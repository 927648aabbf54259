import { execFileSync } from 'node:child_process';
import { chmodSync, closeSync, constants, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { archive, Bench, jobFor, seenByRuns } from './support.ts';

/** Modules in private Git repositories, fetched by Terraform with `git`, which runs this program instead of ssh. */

const bench = Bench.use();
const sshKey = '-----BEGIN OPENSSH PRIVATE KEY-----\r\nonly for git to see\r\n-----END OPENSSH PRIVATE KEY-----';

let tools: string;
let seen: string;
let pipe: number;
beforeEach(() => {
  tools = mkdtempSync(join(seenByRuns, 'ssh-tools-'));
  // A pipe, because Terraform's user cannot write a file there.
  seen = join(tools, 'seen');
  execFileSync('mkfifo', [seen]);
  pipe = openSync(seen, constants.O_RDWR | constants.O_NONBLOCK);
  // Records its arguments, prints the key into the pipe, and fails like ssh with an unreachable host.
  writeFileSync(
    join(tools, 'ssh'),
    `#!/bin/sh\necho "$@" >> ${seen}\nwhile [ $# -gt 0 ]; do [ "$1" = -i ] && { cat "$2" >> ${seen}; ls -l "$2" >> ${seen}; cat "$2" >&2; }; shift; done\nexit 255\n`,
  );
  chmodSync(join(tools, 'ssh'), 0o755);
  chmodSync(tools, 0o777);
  chmodSync(seen, 0o666);
});
afterEach(() => {
  closeSync(pipe);
  rmSync(tools, { recursive: true, force: true });
});

const readSeen = (): string => {
  const bytes = Buffer.alloc(64 * 1024);
  return bytes.toString('utf8', 0, readSync(pipe, bytes));
};

const module = archive({ 'main.tf': 'module "a" {\n  source = "git::ssh://git@host.test/acme/a.git"\n}\n' });
const run = async (options: Parameters<typeof jobFor>[2]) => {
  const job = jobFor(bench.plane, await module, options);
  return bench.run(job, { PATH: `${tools}:${process.env.PATH}` });
};

it('modules are fetched with the SSH key, which is removed afterwards', async () => {
  const { log, report } = await run({ sshKey });
  expect(report).toMatchObject({ outcome: 'errored' });
  const call = readSeen();
  expect(call).toMatch(/^-i \S+\/ssh\/key .*IdentitiesOnly=yes .*BatchMode=yes .*git@host\.test/);
  expect(call).toContain(
    '-----BEGIN OPENSSH PRIVATE KEY-----\nonly for git to see\n-----END OPENSSH PRIVATE KEY-----\n',
  );
  expect(call).toMatch(/^-rw------- /m);
  expect(log).not.toContain('only for git');
  expect(bench.leftovers()).toEqual([]);
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
