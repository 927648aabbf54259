import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Phase } from './phase.ts';
import { effective } from './terraform/variables.ts';
import { removeForeign } from './workspace/foreign-paths.ts';
import { give } from './workspace/tree.ts';

/** In single quotes: Git passes the command to a shell. */
const quoted = (path: string): string => `'${path.replaceAll("'", `'\\''`)}'`;

/**
 * Provides the workspace's SSH key while modules are fetched, and deletes it afterwards. If the workspace sets
 * GIT_SSH_COMMAND, that variable takes precedence, and its program does not get the key. Programs in other variables
 * can read it (security.md).
 */
export const withSshKey = async <T>({ job, files, user, environment }: Phase, fetch: () => Promise<T>): Promise<T> => {
  if (!job.sshKey || effective(job.variables, 'env').some(({ key }) => key === 'GIT_SSH_COMMAND')) return fetch();
  const file = join(files.ssh, 'key');
  await mkdir(files.ssh, { mode: 0o700 });
  try {
    // OpenSSH rejects a key whose last line has no line break.
    await writeFile(file, `${job.sshKey.replaceAll('\r\n', '\n').trim()}\n`, { mode: 0o600 });
    give(files.ssh, user.owner);
    const options = [
      'IdentitiesOnly=yes',
      'BatchMode=yes',
      // The first key that a host presents is trusted.
      'StrictHostKeyChecking=accept-new',
      `UserKnownHostsFile=${quoted(join(files.ssh, 'known_hosts'))}`,
    ];
    environment.GIT_SSH_COMMAND = ['ssh', '-i', quoted(file), ...options.map((option) => `-o ${option}`)].join(' ');
    return await fetch();
  } finally {
    delete environment.GIT_SSH_COMMAND;
    removeForeign(files.ssh);
  }
};
