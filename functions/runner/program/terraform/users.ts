import { randomBytes } from 'node:crypto';
import { PhaseError } from '../errors.ts';
import { removeControlGroups } from './control-groups.ts';
import { endProcesses } from './leftover-processes.ts';
import { whyNoRooms, whyNoUsers } from './machine.ts';
import type { Owner } from './owner.ts';
import { Room } from './room.ts';
import { UserIds } from './user-ids.ts';

/**
 * The users that Terraform's processes run as. These processes run customers' code. So if the runner is root on
 * Linux, they have separate users, which can neither signal the runner nor read its memory, environment or files: one
 * for the plan, one for the apply, and one that reads plans and states.
 */

export class User {
  /** Undefined if Terraform runs as the runner's user. */
  readonly owner: Owner | undefined;
  /** The room of its processes; undefined on machines without rooms. */
  readonly room: Room | undefined;
  /** The run's folder; undefined if Terraform has no user of its own. */
  readonly folder: string | undefined;
  /** Mark in the environment of this user's processes, if nothing else identifies them. */
  readonly mark: string | undefined;
  #working = 0;

  constructor(owner?: Owner, { room, folder }: { room?: Room; folder?: string } = {}) {
    this.owner = owner;
    this.room = room;
    this.folder = folder;
    this.mark = owner ? undefined : randomBytes(16).toString('hex');
  }

  get busy(): boolean {
    return this.#working > 0;
  }

  /** Call it for each started process, and {@link left} when the process has ended. */
  entered(): void {
    this.#working += 1;
  }

  /**
   * Ends all processes that this user's processes have left running, once the last of them has ended.
   * @throws {PhaseError} if a process survives
   */
  async left(): Promise<void> {
    this.#working -= 1;
    if (this.#working > 0 || (await this.end())) return;
    throw new PhaseError(
      'Processes that Terraform or its provisioners started could not be ended. Nothing of this run can be trusted while they run: ' +
        'start a new run, and end them on the machine if the runner is an agent.',
    );
  }

  /** Ends all of this user's processes. @returns whether no other process is left, as far as this system can detect */
  async end(): Promise<boolean> {
    // Processes in a room end with it.
    return this.room !== undefined || endProcesses(this);
  }
}

export interface Users {
  plan: User;
  apply: User;
  /** Reads plans and states, with no credentials, no write access, and no other process around. */
  reader: User;
}

export interface Separation {
  /** `none`, the first of three user ids that must be used, or empty: separate users where possible. */
  terraformUsers: string;
  /** Rooms where possible. */
  rooms: boolean;
  /** Folders of the machine that can be written in rooms. */
  roomFolders?: string[];
}

/** Whether Terraform gets separate users. @throws {Error} if required user ids cannot be used */
export const isSeparated = ({ terraformUsers: setting }: Separation): boolean => {
  const reason = setting === 'none' ? 'it is turned off' : whyNoUsers();
  if (reason !== undefined && setting && setting !== 'none')
    throw new Error(`Terraform cannot run as user ${setting} (STEPFORM_TERRAFORM_USERS): ${reason}`);
  return reason === undefined;
};

/**
 * @param folder of the run, absolute: the user ids belong to it until it is removed
 * @throws {Error} if required user ids cannot be used
 */
export const takeUsers = (separation: Separation, folder: string): Users => {
  if (!isSeparated(separation)) return { plan: new User(), apply: new User(), reader: new User() };
  const { terraformUsers, rooms, roomFolders = [] } = separation;
  const first = terraformUsers
    ? Number(terraformUsers)
    : new UserIds({ onForgotten: removeControlGroups }).take(folder);
  const [plan, apply, reader] = [0, 1, 2].map((n) => ({ uid: first + n, gid: first + n })) as [Owner, Owner, Owner];
  const names = { 'terraform-plan': plan, 'terraform-apply': apply, 'terraform-reader': reader };
  const room = rooms && whyNoRooms() === undefined ? new Room(folder, names, roomFolders) : undefined;
  const place = { room, folder };
  return { plan: new User(plan, place), apply: new User(apply, place), reader: new User(reader, place) };
};
