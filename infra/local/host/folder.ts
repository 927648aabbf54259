import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { holderOf, tryLock } from '#infra/build/file-lock.ts';
import { readSteering, writePrivately } from '#infra/local/aws/ssm/secrets.ts';
import { type Marker, markUsed, openFormat } from './data-format.ts';
import { reasonOf, StartError } from './errors.ts';
import type { OperatorCredentials } from './operator-client.ts';

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
  /** For AWS clients, with `awsCredentials`. */
  awsEndpointUrl: string;
  /** The operator's, who may do everything. */
  awsCredentials: OperatorCredentials;
  stateMachineArn: string;
  tableName: string;
  bucketName: string;
  pid: number;
}

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

export const platformLock = 'platform.lock';

/** The platform's data on disk, used by one platform at a time. */
export class Folder {
  readonly path: string;
  /** Set by `previous`. */
  marker: Marker | undefined;
  readonly #release: () => void;

  /** @throws StartError when it cannot be made or written, or another platform runs on it */
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
   * What the platform said of itself when it last ran here.
   * @throws StartError when the folder cannot be read by this version, is damaged, or has lost its data
   */
  previous(): Local | undefined {
    this.marker = openFormat(this.path);
    return readSteering(this.at('local.json'), 'Delete it: the next start writes it, with another token.');
  }

  /** The platform is ready. */
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
