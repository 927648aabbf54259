import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { makeControlGroups, memoryBytes, removeControlGroups } from './control-groups.ts';
import { endsFirst, limits } from './limits.ts';
import { isHidden, isPassable, machineFolder, pathOf, temporaryFolders } from './machine.ts';
import type { Owner } from './owner.ts';

/**
 * A sandbox for code that is not the platform's. Each command gets its own room, which root creates on Linux:
 *
 * - A process namespace. When its first process ends, the kernel ends all others, even those that hide.
 * - A mount namespace in which only the run's folder is writable, besides small temporary file systems that end with
 *   the command. So files of the run's users exist nowhere else, and no file that they leave can be executed with their
 *   rights.
 * - Only the devices that programs expect on any machine: every user may open others, such as `/dev/kvm` and
 *   `/dev/net/tun`.
 * - Separate System V and POSIX message queues, semaphores and shared memory.
 * - A separate session keyring, if keyutils is installed: processes in root's session can read its keys.
 * - No capabilities, and no way to gain any or another user's rights (`no_new_privs`).
 * - Limits for processes, files and memory (limits.ts, control-groups.ts).
 *
 * The first process is a shell of root that waits. It reads names of signals from the runner and sends them to the
 * command; when the runner ends, it ends the room. Root's programs get no variables of the run: a shell of the run's
 * user sets them, and reads them from a pipe, because all users can read command lines.
 */

/** Exit code if the room could not be created. Terraform does not use it. */
export const notMade = 253;

/**
 * File systems whose files the kernel creates: users cannot add any. `autofs` is only the trigger of an automount,
 * which has its own entry.
 */
const withoutFiles =
  /^(proc|sysfs|cgroup2?|devpts|devtmpfs|securityfs|debugfs|tracefs|bpf|autofs|binfmt_misc|efivarfs)$/;
/** Mount options that a remount would otherwise drop. */
const kept = /^(nosuid|nodev|noexec|noatime|nodiratime|relatime|nosymfollow)$/;

interface Mount {
  path: string;
  options: string[];
}

/** proc(5): mountinfo. */
const mountIn = (line: string): Mount | undefined => {
  const [before = '', after = ''] = line.split(' - ');
  const [, , , , path = '', options = ''] = before.split(' ');
  if (withoutFiles.test(after.split(' ')[0] ?? '')) return undefined;
  const unescaped = path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
  return { path: unescaped, options: options.split(',') };
};

const isDevice = (path: string): boolean => path.startsWith('/dev/');

/** Mounts on which some user might be able to write. @param mountinfo proc(5) */
const writableMounts = (mountinfo: string): Mount[] => {
  const found = new Map<string, Mount>();
  for (const line of mountinfo.trim().split('\n')) {
    const mount = mountIn(line);
    // Of several mounts on one path, the last is visible.
    if (mount) found.set(mount.path, mount);
  }
  return [...found.values()].filter(
    ({ path, options }) => options.includes('rw') && !isHidden(path) && !isDevice(path) && isPassable(path),
  );
};

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Escapes a field as in fstab(5). */
const field = (text: string): string =>
  text.replace(/[\s\\#]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`);

const gibibyte = 2 ** 30;
/** Size of each temporary file system of a room. Most programs use `TMPDIR`, which is in the run's folder. */
const temporaryBytes = (): number => Math.floor(Math.min(gibibyte, memoryBytes() / 8));
const temporaryFiles = 100_000;
const maxTerminals = 64;

export class Room {
  readonly #folder: string;
  readonly #shared: string[];
  /** Lines of the mount table that are the same for all commands. */
  readonly #mounts: string;
  /** The latest mount table. */
  #table = { path: '', text: '', number: 0 };
  /** Files through which a process enters the run's control groups. */
  readonly #groups: string[];

  /**
   * @param folder the run's folder: an absolute path, exists, owned by root
   * @param users by name
   * @param shared other writable folders
   */
  constructor(folder: string, users: Record<string, Owner>, shared: string[]) {
    this.#folder = folder;
    const own = join(folder, 'room');
    mkdirSync(own, { mode: 0o755 });
    const names = join(own, 'passwd');
    writeFileSync(names, passwords(users, folder), { mode: 0o644 });
    this.#shared = shared.filter((path) => !isDevice(path));
    this.#mounts = mountsOfDevices(shared.filter(isDevice)) + mountsOf(folder, names, this.#shared);
    this.#groups = makeControlGroups(folder);
  }

  /** The program and its arguments; it reads {@link environmentScript} from file descriptor 3. */
  command(owner: Owner, directory: string, program: string[], output: 'both' | 'apart'): [string, string[]] {
    const { uid, gid } = owner;
    const unprivileged = [
      ...[pathOf('setpriv') as string, '--no-new-privs', '--clear-groups', `--reuid=${uid}`, `--regid=${gid}`],
      ...['--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all', '/bin/sh', '-s', ...program],
    ];
    const script = setUp(this.#folder, this.#currentTable(), this.#groups) + start(unprivileged, directory, output);
    const namespaces = ['--mount', '--pid', '--ipc', '--fork', '--kill-child', '--mount-proc'];
    return [pathOf('unshare') as string, [...namespaces, '--', '/bin/sh', '-c', script]];
  }

  /** Path of a mount table for the machine's present mounts. Another command may still be reading an earlier table. */
  #currentTable(): string {
    const text = this.#mounts + remounts(this.#shared);
    if (text !== this.#table.text) {
      const number = this.#table.number + 1;
      const path = join(this.#folder, 'room', `fstab-${number}`);
      writeFileSync(path, text, { mode: 0o600 });
      this.#table = { path, text, number };
    }
    return this.#table.path;
  }

  /**
   * Paths of the machine's mounts that are not read-only in this room.
   * @param mountinfo `/proc/self/mountinfo` of a command
   */
  writableIn(mountinfo: string): string[] {
    const own = [this.#folder, '/dev', '/etc/passwd', ...this.#shared];
    return writableMounts(mountinfo).flatMap(({ path }) => (own.includes(path) ? [] : path));
  }

  /** Call it after the last command has ended. */
  close(): void {
    removeControlGroups(this.#folder);
  }
}

const passwords = (users: Record<string, Owner>, folder: string): string => {
  let machine = '';
  try {
    machine = readFileSync('/etc/passwd', 'utf8').trimEnd();
  } catch {
    // Without this file, the machine has no other users to list.
  }
  const lines = Object.entries(users).map(([name, { uid, gid }]) => `${name}:x:${uid}:${gid}::${folder}/home:/bin/sh`);
  return `${[machine, ...lines].filter(Boolean).join('\n')}\n`;
};

const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => `/dev/${name}`);
const deviceLinks = { fd: '/proc/self/fd', stdin: 'fd/0', stdout: 'fd/1', stderr: 'fd/2', ptmx: 'pts/ptmx' };

/**
 * The folder that replaces `/dev` in rooms: root's own, the same for all runs, because its 14 files are a sixth of those
 * that a small run creates.
 * @returns lines of the mount table; put them before the lines that hide the machine's folders
 */
const mountsOfDevices = (shared: string[]): string => {
  const all = [...devices, ...shared]
    .filter(existsSync)
    .map((path) => ({ path, isFolder: statSync(path).isDirectory() }));
  const name = createHash('sha256').update(JSON.stringify(all)).digest('hex').slice(0, 16);
  const folder = join(machineFolder('devices', 0o755), name);
  if (!existsSync(folder)) makeDevices(folder, all);
  const place = (path: string) => field(join(folder, path.slice('/dev/'.length)));
  const mounts = all.map(({ path }) => `${field(path)} ${place(path)} none bind,nosuid,noexec 0 0\n`);
  return [...mounts, `${field(folder)} /dev none rbind,nosuid,noexec 0 0\n`].join('');
};

const makeDevices = (folder: string, all: { path: string; isFolder: boolean }[]): void => {
  const made = mkdtempSync(`${folder}-`);
  chmodSync(made, 0o755);
  for (const path of ['pts', 'shm']) mkdirSync(join(made, path));
  for (const [name, target] of Object.entries(deviceLinks)) symlinkSync(target, join(made, name));
  for (const { path, isFolder } of all) {
    const place = join(made, path.slice('/dev/'.length));
    mkdirSync(isFolder ? place : dirname(place), { recursive: true });
    if (!isFolder) writeFileSync(place, '');
  }
  try {
    renameSync(made, folder);
  } catch (error) {
    rmSync(made, { recursive: true });
    // Another run was first.
    if (!existsSync(folder)) throw error;
  }
};

/** A room's own mounts. `/proc/self/cwd` stands for the run's folder, because a mount may hide its path. */
const mountsOf = (folder: string, names: string, shared: string[]): string => {
  const options = `nosuid,nodev,mode=1777,size=${temporaryBytes()},nr_inodes=${temporaryFiles}`;
  return [
    ...temporaryFolders.map((path) => `stepform-room ${path} tmpfs ${options} 0 0`),
    // Limited, because the machine has few pseudoterminals, and users need them to sign in.
    `stepform-room /dev/pts devpts nosuid,noexec,newinstance,ptmxmode=0666,mode=0600,max=${maxTerminals},nofail 0 0`,
    `/proc/self/cwd ${field(folder)} none bind,nosuid,nodev,X-mount.mkdir=0711 0 0`,
    ...shared.map((path) => `${field(path)} ${field(path)} none rbind,nosuid,nodev 0 0`),
    // OpenSSH rejects users without a name.
    `${field(names)} /etc/passwd none bind,nofail 0 0`,
    '',
  ].join('\n');
};

/**
 * Lines of the mount table that make the machine's mounts read-only, except those on shared folders. `mount -a` ignores
 * the root, but not `/.`.
 */
const remounts = (shared: string[]): string =>
  writableMounts(readFileSync('/proc/self/mountinfo', 'utf8'))
    .map(({ path, options }) => {
      const access = shared.includes(path) ? ['nosuid', 'nodev'] : ['ro'];
      const all = new Set(['remount', 'bind', ...access, ...options.filter((option) => kept.test(option))]);
      return `stepform-room ${path === '/' ? '/.' : field(path)} none ${[...all].join(',')} 0 0\n`;
    })
    .join('');

const setUp = (folder: string, table: string, groups: string[]): string => {
  const keyctl = pathOf('keyctl');
  const steps = [
    `cd ${quoted(folder)}`,
    `{ { ${endsFirst}; } 2>/dev/null || :; }`,
    // Gives this shell, keyctl's parent, a new session. On kernels without keys, and in containers that forbid them, it
    // fails, and there are no keys to share.
    ...(keyctl ? [`{ ${keyctl} new_session >/dev/null 2>&1 || :; }`] : []),
    ...groups.map((file) => `echo 0 >${quoted(file)}`),
    // One call of `mount` for all mounts, because its start takes longer than they do.
    `${pathOf('mount')} -n -c -a -T ${quoted(table)} >&2`,
  ];
  return `exec 4<&0 </dev/null\n${steps.join(' &&\n')} || exit ${notMade}\n`;
};

/**
 * In a new namespace, process ids follow the order of starts: the command's id is the signal reader's id plus one. The
 * command runs in the foreground, because in the background it would ignore interrupts (POSIX: asynchronous lists).
 * While it still runs as root it is a copy of this shell, and signals would be lost.
 */
const start = (program: string[], directory: string, output: 'both' | 'apart'): string => `
cd ${quoted(directory)} || exit ${notMade}
{
  read -r self rest </proc/self/stat
  command=$((self + 1))
  has_begun() {
    while read -r key value rest; do
      if [ "$key" = Uid: ]; then [ "$value" != 0 ]; return; fi
    done <"/proc/$command/status"
    return 1
  }
  while read -r signal <&4; do
    until has_begun; do :; done
    kill -s "$signal" "$command"
  done
  kill -s KILL -- -1
} 3<&- >/dev/null 2>&1 &
${program.map(quoted).join(' ')} <&3 3<&- 4<&-${output === 'both' ? ' 2>&1' : ''}
`;

/** Names that a shell can export. */
const plainName = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Names that some shell sets itself, or makes read-only. */
const shellsOwn = /^(_|PPID|UID|EUID|OPTIND|LINENO|SHELLOPTS|BASH.*)$/;

/**
 * The script of the room's last shell: sets limits and the command's variables, then starts the command. Variables that
 * it cannot export are arguments of `env` for a moment, which other users of the machine could read.
 */
export const environmentScript = (environment: Record<string, string>): string => {
  const entries = Object.entries(environment);
  const isPlain = ([name]: [string, string]) => plainName.test(name) && !shellsOwn.test(name);
  const others = entries.filter((entry) => !isPlain(entry)).map(([name, value]) => quoted(`${name}=${value}`));
  return `${limits}unset PWD OLDPWD SHLVL
${entries
  .filter(isPlain)
  .map(([name, value]) => `export ${name}=${quoted(value)}`)
  .join('\n')}
exec ${others.length > 0 ? `/usr/bin/env -- ${others.join(' ')} ` : ''}"$@" </dev/null
`;
};
