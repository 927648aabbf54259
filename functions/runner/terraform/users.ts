import { randomBytes, randomInt } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { PhaseError } from '../errors.ts';
import { busyUsers, endProcesses } from './leftover-processes.ts';
import type { Owner } from './owner.ts';

/**
 * The users that Terraform's processes run as. They run customers' code, so where the runner is root on Linux they have
 * users of their own, which can neither signal the runner nor read its memory, environment or files: one for the plan,
 * one for the apply, and one that reads plans and states once the processes of the other two are gone (before, its Terraform
 * may wait: gate.ts).
 */

export class User {
  /** Undefined where Terraform runs as the runner's user. */
  readonly owner: Owner | undefined;
  /** In the environment of this user's processes, where nothing else distinguishes them. */
  readonly mark: string | undefined;
  #working = 0;
  /** Process groups that do nothing yet. */
  readonly #waiting = new Set<number>();

  constructor(owner: Owner | undefined) {
    this.owner = owner;
    this.mark = owner ? undefined : randomBytes(16).toString('hex');
  }

  get busy(): boolean {
    return this.#working > 0 || this.#waiting.size > 0;
  }

  /** Must be called for each started process, and {@link left} when it has ended. */
  entered(): void {
    this.#working += 1;
  }

  /** In place of {@link entered}, for one that waits for its turn: it is not what another one has left. */
  waits(group: number): void {
    this.#waiting.add(group);
  }

  /** It is its turn. */
  begins(group: number): void {
    if (this.#waiting.delete(group)) this.entered();
  }

  /**
   * Ends whatever this user's processes have left running, once the last of them that has begun has ended.
   * @throws {PhaseError} when a process survives
   */
  async left(group: number): Promise<void> {
    if (!this.#waiting.delete(group)) this.#working -= 1;
    if (this.#working > 0) return;
    if (await endProcesses(this, this.#waiting)) return;
    throw new PhaseError(
      'Processes that Terraform or its provisioners started could not be ended. Nothing of this run can be trusted while they run: ' +
        'start a new run, and end them on the machine if the runner is an agent.',
    );
  }
}

export interface Users {
  plan: User;
  apply: User;
  /** Reads plans and states, with no credentials, no write access, and no other process around. */
  reader: User;
}

/** Reserved by convention (lower uids are people's and system accounts', higher ones are containers' and dynamic). */
const firstUid = 60_000;

const lastUid = 64_999;

const usersPerRun = 4;

/** capabilities(7): chown, dac_override, fowner, kill, setgid, setuid. */
const needed = [0, 1, 3, 5, 6, 7].reduce((mask, bit) => mask | (1n << BigInt(bit)), 0n);

const whyNot = (): string | undefined => {
  if (process.platform !== 'linux') return 'only Linux can list all processes of a user';
  if (process.getuid?.() !== 0) return 'the runner is not root';
  const [, capabilities = '0'] = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'latin1')) ?? [];
  if ((BigInt(`0x${capabilities}`) & needed) !== needed)
    return 'the runner lacks one of the capabilities CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID, SETUID';
  for (const map of ['uid_map', 'gid_map']) {
    const lines = readFileSync(`/proc/self/${map}`, 'latin1').trim().split('\n');
    const covers = (line: string) => {
      const [first = 0, , count = 0] = line.trim().split(/\s+/).map(Number);
      return first <= firstUid && first + count > lastUid;
    };
    if (!lines.some(covers)) return `user ids ${firstUid} to ${lastUid} do not exist here (/proc/self/${map})`;
  }
  return undefined;
};

/** Reserves a user id: a socket name that exists as long as this process and only once on the machine. */
const reserve = (uid: number): Promise<boolean> =>
  new Promise((resolve) => {
    const name = createServer();
    name.once('error', () => resolve(false));
    name.listen(`\0stepform-user-${uid}`, () => resolve(true));
    name.unref();
  });

const reserved = async (): Promise<number> => {
  const count = Math.floor((lastUid - firstUid + 1) / usersPerRun);
  const begin = randomInt(count);
  // A runner that was killed may have left processes of a user.
  const busy = busyUsers();
  for (let n = 0; n < count; n++) {
    const uid = firstUid + ((begin + n) % count) * usersPerRun;
    if ([uid, uid + 1, uid + 2].some((id) => busy.has(id))) continue;
    if (await reserve(uid)) return uid;
  }
  throw new Error(`all user ids from ${firstUid} to ${lastUid} are in use by other runs`);
};

const from = (uid: number): Users => {
  const user = (n: number) => new User({ uid: uid + n, gid: uid + n });
  return { plan: user(0), apply: user(1), reader: user(2) };
};

/**
 * @param setting `none`, the first of three user ids that must be used, or empty: separate users where possible
 * @throws {Error} when required user ids cannot be used
 */
export const takeUsers = async (setting: string): Promise<Users> => {
  const reason = setting === 'none' ? 'it is turned off' : whyNot();
  if (reason === undefined) return from(setting ? Number(setting) : await reserved());
  if (setting && setting !== 'none') {
    throw new Error(`Terraform cannot run as user ${setting} (STEPFORM_TERRAFORM_USERS): ${reason}`);
  }
  return { plan: new User(undefined), apply: new User(undefined), reader: new User(undefined) };
};

const executeByOthers = 0o001;

/** Whether every user may enter a folder and all above it. */
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
