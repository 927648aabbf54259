import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { afterDamage, reasonOf, StartError } from './errors.ts';
import { isAlive, type ProcessId, startOf } from './processes.ts';
import { writePrivately } from './secrets.ts';

/** What a person or a program needs to use a running platform: `local.json` in its data folder. */
export interface Local {
  url: string;
  httpsUrl: string;
  /** Of the environments' API. */
  environmentsUrl: string;
  /** Certificate of the authority behind `httpsUrl`, in PEM. */
  caFile: string;
  organization: string;
  /** API token of the organization's owner. */
  token: string;
  /** For AWS clients, with any credentials. */
  awsEndpointUrl: string;
  stateMachineArn: string;
  tableName: string;
  bucketName: string;
  pid: number;
}

/** Without these, what is left would be unreadable, or an empty platform with the former token. */
const lasting = ['dynamodb', 's3', 'kms.key'];

/** With those above it. Node's own `recursive` never ends where the system answers that what is above is not there: below /proc. */
const makeFolder = (path: string): void => {
  const above = dirname(path);
  if (above !== path && !existsSync(path)) {
    makeFolder(above);
    try {
      mkdirSync(path, { mode: 0o700 });
      return;
    } catch (error) {
      // Somebody else may have been faster.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  if (!statSync(path).isDirectory()) throw new StartError(`${path} is not a folder. STEPFORM_DATA must be a folder.`);
};

/** Nobody can write there, whatever the reason. */
const unusable = (path: string, error: unknown): StartError => {
  const reason = reasonOf(error) ?? `${(error as Error).message}. Set STEPFORM_DATA to a folder that can be written.`;
  return new StartError(`the data folder ${path} cannot be used: ${reason}`);
};

/** The platform's data on disk, used by one platform at a time. */
export class Folder {
  readonly path: string;
  readonly #lock: string;

  /** @throws StartError when it cannot be made or written, or another platform runs on it */
  constructor(path: string) {
    this.path = resolve(path);
    this.#lock = this.at('lock');
    try {
      makeFolder(this.path);
      this.#take();
    } catch (error) {
      throw error instanceof StartError ? error : unusable(this.path, error);
    }
  }

  at(...parts: string[]): string {
    return join(this.path, ...parts);
  }

  /**
   * What the platform said of itself when it last ran here.
   * @throws StartError when it cannot be read, or what it ran on is no longer there
   */
  previous(): Local | undefined {
    const local = this.#published();
    const missing = local ? lasting.filter((name) => !existsSync(this.at(name))) : [];
    if (missing.length === 0) return local;
    throw new StartError(
      `${this.path} was used before, but ${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing. ${afterDamage}`,
    );
  }

  #published(): Local | undefined {
    try {
      return JSON.parse(readFileSync(this.at('local.json'), 'utf8')) as Local;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw new StartError(
        `${this.at('local.json')} cannot be read: ${(error as Error).message}. Delete it: the next start writes it, with another token.`,
      );
    }
  }

  publish(local: Local): void {
    writePrivately(this.at('local.json'), `${JSON.stringify(local, null, 2)}\n`);
  }

  release(): void {
    rmSync(this.#lock, { force: true });
  }

  #take(): void {
    const me: ProcessId = { pid: process.pid, startedAt: startOf(process.pid)! };
    // Linked into place, so that nobody ever reads half a lock.
    const mine = `${this.#lock}.${process.pid}`;
    try {
      writeFileSync(mine, JSON.stringify(me));
      for (let attempt = 0; ; attempt++) {
        try {
          linkSync(mine, this.#lock);
          return;
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || attempt > 3) throw error;
          const holder = this.#holder();
          if (holder && isAlive(holder))
            throw new StartError(
              `a platform already runs on ${this.path} (process ${holder.pid}); stop it, or set STEPFORM_DATA to another folder`,
            );
          rmSync(this.#lock, { force: true });
        }
      }
    } finally {
      rmSync(mine, { force: true });
    }
  }

  #holder(): ProcessId | undefined {
    try {
      return JSON.parse(readFileSync(this.#lock, 'utf8')) as ProcessId;
    } catch {
      return undefined;
    }
  }
}
