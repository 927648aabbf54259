import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { holderOf, tryLock } from '#infra/build/file-lock.ts';
import { readSteering, writePrivately } from '#infra/local/aws/ssm/secrets.ts';
import { type Marker, markUsed, openFormat } from './data-format.ts';
import { reasonOf, StartError } from './errors.ts';
import type { OperatorCredentials } from './operator-client.ts';

/** Access data of a running platform for users and programs: `local.json` in its data folder. */
export interface Local {
  url: string;
  httpsUrl: string;
  /** URL of the environments' API. */
  environmentsUrl: string;
  /** Certificate of the authority behind `httpsUrl`, in PEM. */
  caFile: string;
  organization: string;
  /** API token of the organization's owner. */
  token: string;
  /** Endpoint for AWS clients, with `awsCredentials`. */
  awsEndpointUrl: string;
  /** The operator's credentials, with all permissions. */
  awsCredentials: OperatorCredentials;
  stateMachineArn: string;
  tableName: string;
  bucketName: string;
  pid: number;
}

/**
 * Creates a folder and its parents. Node's own `recursive` never returns if the system reports a missing parent that
 * exists: below /proc.
 */
const makeFolder = (path: string): void => {
  const above = dirname(path);
  if (above !== path && !existsSync(path)) {
    makeFolder(above);
    try {
      mkdirSync(path, { mode: 0o700 });
      return;
    } catch (error) {
      // Another process may have created it meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  if (!statSync(path).isDirectory()) throw new StartError(`${path} is not a folder. STEPFORM_DATA must be a folder.`);
};

/** The error for a data folder that cannot be created or written. */
const unusable = (path: string, error: unknown): StartError => {
  const reason = reasonOf(error) ?? `${(error as Error).message}. Set STEPFORM_DATA to a folder that can be written.`;
  return new StartError(`the data folder ${path} cannot be used: ${reason}`);
};

export const platformLock = 'platform.lock';

/** The platform's data on disk, used by one platform at a time. */
export class Folder {
  readonly path: string;
  /** Set by `previous`. */
  marker: Marker | undefined;
  readonly #release: () => void;

  /** @throws StartError if it cannot be created or written, or another platform runs on it */
  constructor(path: string) {
    this.path = resolve(path);
    try {
      makeFolder(this.path);
      this.#release = take(this.at(platformLock), this.path);
    } catch (error) {
      throw error instanceof StartError ? error : unusable(this.path, error);
    }
  }

  at(...parts: string[]): string {
    return join(this.path, ...parts);
  }

  /**
   * Access data of the last platform on this folder.
   * @throws StartError if this version cannot read the folder, or if it is damaged or incomplete
   */
  previous(): Local | undefined {
    this.marker = openFormat(this.path);
    return readSteering(this.at('local.json'), 'Delete it: the next start creates it again, with a new token.');
  }

  /** Marks the platform as ready. */
  publish(local: Local): void {
    writePrivately(this.at('local.json'), `${JSON.stringify(local, null, 2)}\n`);
    markUsed(this.path);
  }

  release(): void {
    this.#release();
  }
}

const take = (file: string, path: string): (() => void) => {
  const release = tryLock(file);
  if (release) return release;
  throw new StartError(
    `a platform already runs on ${path} (${holderOf(file)}); stop it, or set STEPFORM_DATA to another folder`,
  );
};
