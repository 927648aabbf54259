import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

/**
 * The user whose process is at the other end of a loopback connection: the listener's address keeps other machines out, but
 * not the Terraform of a run, which is another user where the platform runs as root on Linux.
 */

/** A row of /proc/net/tcp: local and remote address, then uid (7th) and inode (9th column). */
const row = /^\s*\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:([0-9A-F]{4}) (?:\S+ +){4}(\d+) +\S+ +(\d+)/;

const tables = ['/proc/net/tcp', '/proc/net/tcp6'];

const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0');

/**
 * @returns undefined when the connection is not listed, or has no process any more: Linux lists what a process has closed
 *   with uid 0 and no inode
 */
const uidOfPeer = ({ localPort = 0, remotePort = 0 }: Socket): number | undefined => {
  const [here, there] = [hex(localPort), hex(remotePort)];
  for (const table of tables) {
    for (const line of readFileSync(table, 'utf8').split('\n')) {
      const [, local, remote, uid, inode] = row.exec(line) ?? [];
      if (local === there && remote === here && inode !== '0') return Number(uid);
    }
  }
  return undefined;
};

const isListed = (): boolean => {
  try {
    return tables.every((table) => readFileSync(table, 'utf8').includes('local_address'));
  } catch {
    return false;
  }
};

/** Only root starts Terraform as another user; and only Linux tells whose a connection is. */
const tellsUsersApart = process.getuid?.() === 0 && isListed();

const asked = new WeakMap<Socket, boolean>();

/** Whether the caller may act as the operator of this machine: root where that tells anything, else every local process. */
export const isOperator = (socket: Socket): boolean => {
  if (!tellsUsersApart) return true;
  const before = asked.get(socket);
  if (before !== undefined) return before;
  const answer = uidOfPeer(socket) === 0;
  asked.set(socket, answer);
  return answer;
};
