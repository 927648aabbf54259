import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '#platform/net/transport/errors.ts';
import { isPassable, sharesKeyring, whyNoRooms, whyNoUsers } from './machine.ts';
import { outputOf } from './process.ts';
import { type Separation, takeUsers } from './users.ts';

/** Reports missing separation between runs on this machine, for its operator. */

const remedy = 'Run this as root on Linux with util-linux to isolate them.';

const noUsers = (reason: string): string =>
  `Runs are not isolated from this program and from each other: ${reason}. A configuration can read, change and end ` +
  `everything on this machine that you can. ${remedy} Until then, let only people whom you trust change configurations and variables.`;

const noRooms = (reason: string): string =>
  `Runs have separate users, but no rooms: ${reason}. They share temporary folders and memory, see each other's processes, and nothing ` +
  `limits what they write there. ${remedy}`;

const dumpable = (): string | undefined => {
  try {
    if (readFileSync('/proc/sys/fs/suid_dumpable', 'latin1').trim() !== '1') return undefined;
  } catch {
    return undefined;
  }
  return 'Providers can change the plan that policies evaluate: fs.suid_dumpable is 1. Set it to 0: sysctl -w fs.suid_dumpable=0';
};

const keyring = (): string | undefined =>
  sharesKeyring()
    ? "Runs can read keys in this program's session keyring, and leave keys there for other runs: install keyutils (keyctl)."
    : undefined;

/** Creates a room as a test. @throws {Error} if that fails, or if the room does not protect the machine's files */
const tryRoom = async (separation: Separation): Promise<void> => {
  const above = [tmpdir(), '/tmp', '/var/tmp'].find(isPassable) ?? tmpdir();
  const folder = mkdtempSync(join(above, 'stepform-room-'));
  chmodSync(folder, 0o711);
  try {
    const { plan } = takeUsers(separation, folder);
    const args = ['/proc/self/mountinfo'];
    const command = { path: '/bin/cat', args, directory: folder, environment: {}, user: plan };
    const mountinfo = await outputOf(command, 10_000).finally(() => plan.room?.close());
    const writable = plan.room?.writableIn(mountinfo) ?? [];
    if (writable.length > 0)
      throw new Error(
        `In a room, ${writable.join(', ')} can be written. Update util-linux on this machine, or start the platform or ` +
          'agent with STEPFORM_ROOMS=none to run without rooms (see the documentation on security).',
      );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/**
 * One or more sentences for each missing separation; empty if there is none. Takes about 20 ms as root.
 * @param offer another remedy if runs are not separated from each other
 */
export const notKeptApart = async (separation: Separation, offer?: string): Promise<string[]> => {
  const withOffer = (sentences: string) => (offer === undefined ? sentences : `${sentences} ${offer}`);
  const { terraformUsers, rooms } = separation;
  const reason = terraformUsers === 'none' ? 'STEPFORM_TERRAFORM_USERS is "none"' : whyNoUsers();
  if (reason !== undefined) return [withOffer(noUsers(reason))];
  const sentences = [dumpable(), keyring()].filter((sentence) => sentence !== undefined);
  const lacking = rooms ? whyNoRooms() : 'STEPFORM_ROOMS is "none"';
  if (lacking !== undefined) return [withOffer(noRooms(lacking)), ...sentences];
  try {
    await tryRoom(separation);
    return sentences;
  } catch (error) {
    return [`Runs will fail here. ${messageOf(error)}`, ...sentences];
  }
};
