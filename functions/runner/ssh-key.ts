import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Phase } from './phase.ts';
import { give } from './workspace/tree.ts';

/** In single quotes, as Git has a shell read it. */
const quoted = (path: string): string => `'${path.replaceAll("'", `'\\''`)}'`;

/**
 * The workspace's SSH key, while modules are fetched: `init` runs no code of the configuration, and afterwards the key is
 * gone. A variable GIT_SSH_COMMAND of the workspace counts instead.
 */
export const withSshKey = async <T>({ job, files, user, environment }: Phase, fetch: () => Promise<T>): Promise<T> => {
  if (!job.sshKey) return fetch();
  const file = join(files.ssh, 'key');
  await mkdir(files.ssh, { mode: 0o700 });
  try {
    // OpenSSH reads no key whose last line does not end.
    await writeFile(file, `${job.sshKey.replaceAll('\r\n', '\n').trim()}\n`, { mode: 0o600 });
    give(files.ssh, user.owner);
    const options = [
      'IdentitiesOnly=yes',
      'BatchMode=yes',
      // Hosts are not known before: the first answer of each counts.
      'StrictHostKeyChecking=accept-new',
      `UserKnownHostsFile=${quoted(join(files.ssh, 'known_hosts'))}`,
    ];
    environment.GIT_SSH_COMMAND = ['ssh', '-i', quoted(file), ...options.map((option) => `-o ${option}`)].join(' ');
    return await fetch();
  } finally {
    delete environment.GIT_SSH_COMMAND;
    await rm(files.ssh, { recursive: true, force: true });
  }
};
