import { accessSync, chmodSync, constants, existsSync, lstatSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Checks which means of separation this machine offers to a runner. */

/** Creates or checks a folder in which only root can write. @throws {Error} if another user could write there */
export const rootFolder = (path: string, mode: number): string => {
  mkdirSync(path, { recursive: true });
  const { uid, mode: actual } = lstatSync(path);
  if (uid !== process.getuid?.() || (actual & 0o022) !== 0)
    throw new Error(`${path} must belong to root alone: remove it, or correct its owner and mode`);
  if ((actual & 0o777) !== mode) chmodSync(path, mode);
  return path;
};

/** In `/var/lib/stepform`, which a server's data folder may be, too. */
export const machineFolders = ['devices', 'programs', 'users'] as const;

/** The machine's folder for this name. It survives restarts, as the folders of runs do. @throws {Error} */
export const machineFolder = (name: (typeof machineFolders)[number], mode: number): string =>
  rootFolder(join(rootFolder('/var/lib/stepform', 0o755), name), mode);

/** capabilities(7) */
const capability = { chown: 0, dacOverride: 1, fowner: 3, kill: 5, setgid: 6, setuid: 7, setpcap: 8, sysAdmin: 21 };
type Capability = keyof typeof capability;

const toUsers: Capability[] = ['chown', 'dacOverride', 'fowner', 'kill', 'setgid', 'setuid'];
const toRooms: Capability[] = ['setpcap', 'sysAdmin'];

const lacks = (wanted: Capability[]): string | undefined => {
  const [, mask = '0'] = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'latin1')) ?? [];
  const effective = BigInt(`0x${mask}`);
  const missing = wanted.filter((name) => !(effective & (1n << BigInt(capability[name]))));
  if (missing.length === 0) return undefined;
  return `the capability ${missing.map((name) => name.replace(/[A-Z]/g, '_$&').toUpperCase()).join(', ')} is missing`;
};

/** Why Terraform cannot run as separate users; undefined if it can. */
export const whyNoUsers = (): string | undefined => {
  if (process.platform !== 'linux') return 'only Linux can list all processes of a user';
  if (process.getuid?.() !== 0) return 'the runner is not root';
  return lacks(toUsers);
};

const tools = ['unshare', 'mount', 'setpriv'] as const;
/** Part of keyutils. A room works without it. */
const keyTool = 'keyctl';
export type Tool = (typeof tools)[number] | typeof keyTool;

/**
 * Whether rooms can access the kernel's session keyring of this program, with keys such as those of a sign-in
 * (keyrings(7)).
 */
export const sharesKeyring = (): boolean => {
  if (pathOf(keyTool)) return false;
  try {
    return readFileSync('/proc/keys', 'latin1').includes(' _ses: ');
  } catch {
    return false;
  }
};

const folders = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];

/** Absolute path of one of the machine's programs, independent of a run's variables. */
export const pathOf = (tool: Tool): string | undefined =>
  folders.map((folder) => join(folder, tool)).find((path) => existsSync(path));

/** Why Terraform cannot run in rooms (room.ts), although it runs as separate users. */
export const whyNoRooms = (): string | undefined => {
  const missing = tools.filter((tool) => !pathOf(tool));
  if (missing.length > 0) return `util-linux is missing (${missing.join(', ')})`;
  return lacks(toRooms);
};

/** Rooms (room.ts) replace these folders by their own. */
export const temporaryFolders = ['/tmp', '/var/tmp', '/dev/shm'];

/** Whether a room (room.ts) hides a path of the machine, unless it is in the run's folder. */
export const isHidden = (path: string): boolean =>
  temporaryFolders.some((folder) => `${path}/`.startsWith(`${folder}/`));

/** Whether these user ids exist in the user namespace of the container or machine. */
export const coversIds = (first: number, last: number): boolean =>
  ['uid_map', 'gid_map'].every((map) =>
    readFileSync(`/proc/self/${map}`, 'latin1')
      .trim()
      .split('\n')
      .some((line) => {
        const [begin = 0, , count = 0] = line.trim().split(/\s+/).map(Number);
        return begin <= first && begin + count > last;
      }),
  );

const executeByOthers = 0o001;

/** Whether every user can enter a folder and its parents. */
export const isPassable = (folder: string): boolean => {
  if (process.platform === 'win32') return false;
  try {
    if (!(statSync(folder).mode & executeByOthers)) return false;
  } catch {
    return false;
  }
  const above = dirname(folder);
  return above === folder || isPassable(above);
};

/** Whether this program can write there. */
export const isWritable = (path: string): boolean => {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
};
