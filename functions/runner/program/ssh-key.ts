import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '#platform/net/transport/errors.ts';
import type { Phase } from './phase.ts';
import { beside } from './terraform/process.ts';
import { effective } from './terraform/variables.ts';
import { removeForeign } from './workspace/foreign-paths.ts';
import { give } from './workspace/tree.ts';

/** In single quotes: Git passes the command to a shell. */
const quoted = (path: string): string => `'${path.replaceAll("'", `'\\''`)}'`;

const ready = 'The key is loaded.';

/**
 * Shell script: ssh-agent(1) holds the key in its memory, which no other process of the same user can read, and loads no
 * libraries (`-P`). The loop waits until ssh-add can reach the agent; until then ssh-add exits with 2.
 */
const agent = `ssh-agent -D -P none -a "$SSH_AUTH_SOCK" >/dev/null &
while ssh-add -l >/dev/null 2>&1; [ $? -eq 2 ] && kill -0 $! 2>/dev/null; do sleep 0.05; done
ssh-add -q "$1" </dev/null && rm "$1" && echo ${quoted(ready)} && wait`;

/**
 * Lets git use the workspace's SSH key while modules are fetched. Variables and files of the workspace can make git
 * start any program (`PATH`, `GIT_CONFIG_COUNT`, `.git/config`). So the key is in an agent: programs that `init` starts
 * can sign with it, but cannot copy it. A workspace's variable GIT_SSH_COMMAND takes precedence; its program gets no
 * key.
 */
export const withSshKey = async <T>(phase: Phase, fetch: () => Promise<T>): Promise<T> => {
  const { job, files, user, settings, environment, log } = phase;
  if (!job.sshKey || effective(job.variables, 'env').some(({ key }) => key === 'GIT_SSH_COMMAND')) return fetch();
  const [file, socket] = [join(files.ssh, 'key'), join(files.ssh, 'agent')];
  await mkdir(files.ssh, { mode: 0o700 });
  try {
    // OpenSSH rejects a key whose last line has no line break.
    await writeFile(file, `${job.sshKey.replaceAll('\r\n', '\n').trim()}\n`, { mode: 0o600 });
    give(files.ssh, user.owner);
    const options = [
      `IdentityAgent=${quoted(socket)}`,
      'IdentitiesOnly=no',
      'IdentityFile=none',
      'BatchMode=yes',
      // The first key that a host presents is trusted.
      'StrictHostKeyChecking=accept-new',
      `UserKnownHostsFile=${quoted(join(files.ssh, 'known_hosts'))}`,
    ];
    const command = {
      path: '/bin/sh',
      args: ['-c', agent, 'sh', file],
      directory: files.ssh,
      environment: { PATH: settings.inherited.PATH ?? '', SSH_AUTH_SOCK: socket, SSH_ASKPASS_REQUIRE: 'never' },
      user,
    };
    const helper = await beside(command, ready).catch((error: unknown) => {
      removeForeign(files.ssh);
      const problem = phase.masked(messageOf(error)).replaceAll(`${files.ssh}/`, '').trim();
      log.error(
        `Modules are fetched without the workspace's SSH key\n\nIt must be a private key without a passphrase, and the runner needs ssh-agent and ssh-add (OpenSSH): ${problem}`,
      );
    });
    try {
      if (helper) environment.GIT_SSH_COMMAND = ['ssh', ...options.map((option) => `-o ${option}`)].join(' ');
      return await fetch();
    } finally {
      await helper?.end();
    }
  } finally {
    delete environment.GIT_SSH_COMMAND;
    removeForeign(files.ssh);
  }
};
