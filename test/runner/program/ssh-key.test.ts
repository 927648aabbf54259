import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { archive, Bench, jobFor } from './support.ts';

/** Modules in private Git repositories, as Terraform fetches them: by `git`, which is made to start this instead of ssh. */

const bench = Bench.use();
const sshKey = '-----BEGIN OPENSSH PRIVATE KEY-----\r\nonly for git to see\r\n-----END OPENSSH PRIVATE KEY-----';

let tools: string;
let seen: string;
beforeEach(() => {
  tools = mkdtempSync('/tmp/ssh-tools-');
  seen = join(tools, 'seen');
  writeFileSync(seen, '');
  // Notes how it was called, prints the key to where it would be seen, and fails as a host that cannot be reached.
  writeFileSync(
    join(tools, 'ssh'),
    `#!/bin/sh\necho "$@" >> ${seen}\nwhile [ $# -gt 0 ]; do [ "$1" = -i ] && { cat "$2" >> ${seen}; ls -l "$2" >> ${seen}; cat "$2" >&2; }; shift; done\nexit 255\n`,
  );
  chmodSync(join(tools, 'ssh'), 0o755);
  chmodSync(tools, 0o777);
  chmodSync(seen, 0o666);
});
afterEach(() => rmSync(tools, { recursive: true, force: true }));

const module = archive({ 'main.tf': 'module "a" {\n  source = "git::ssh://git@host.test/acme/a.git"\n}\n' });
const run = async (options: Parameters<typeof jobFor>[2]) => {
  const job = jobFor(bench.plane, await module, options);
  return bench.run(job, { PATH: `${tools}:${process.env.PATH}` });
};

it('fetches modules with the SSH key, and removes it', async () => {
  const { log, report } = await run({ sshKey });
  expect(report).toMatchObject({ outcome: 'errored' });
  const call = readFileSync(seen, 'utf8');
  expect(call).toMatch(/^-i \S+\/ssh\/key .*IdentitiesOnly=yes .*BatchMode=yes .*git@host\.test/);
  expect(call).toContain(
    '-----BEGIN OPENSSH PRIVATE KEY-----\nonly for git to see\n-----END OPENSSH PRIVATE KEY-----\n',
  );
  expect(call).toMatch(/^-rw------- /m);
  expect(log).not.toContain('only for git');
  expect(bench.leftovers()).toEqual([]);
});

it('respects GIT_SSH_COMMAND of the workspace', async () => {
  const own = { key: 'GIT_SSH_COMMAND', value: 'ssh -o Own=yes', category: 'env' as const };
  await run({ sshKey, variables: [own] });
  expect(readFileSync(seen, 'utf8')).toMatch(/^-o Own=yes .*git@host\.test/);
});

it('sets no key by default', async () => {
  await run({});
  const call = readFileSync(seen, 'utf8');
  expect(call).toContain('git@host.test');
  expect(call).not.toContain('-i ');
});
