import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readSteering, writePrivately } from '#infra/local/aws/ssm/secrets.ts';
import { dataFormat } from '#infra/settings/data-format.ts';
import { databaseFile } from './database.ts';
import { afterDamage, StartError } from './errors.ts';

/** Format and state of a data folder, in `data-folder.json`: the first file of a new folder. */
export interface Marker {
  format: number;
  /** A platform was ready on it: from then on its data must exist. */
  used?: true;
  /**
   * Set after a restore: the first start ends the runs that were in progress at that time, because later changes are
   * missing in the table.
   */
  recoverTo?: string;
}

const name = 'data-folder.json';

/** Required in a used folder: without them, data is unreadable, or the platform is empty but keeps its former token. */
const lasting = [databaseFile, 's3', 'kms.key'];

/** @throws StartError if the folder has another format, is damaged, or lacks data of its platform */
export const openFormat = (folder: string): Marker => {
  const marker = readMarker(folder);
  if (!marker) {
    const former = [...lasting, 'local.json'].filter((file) => existsSync(join(folder, file)));
    if (former.length > 0)
      throw new StartError(
        `${folder} was written by an earlier version of stepform, or has lost its ${name}: this version reads data of format ${dataFormat} only. ` +
          'Set STEPFORM_DATA to a new folder, or use the version that wrote it.',
      );
    write(folder, { format: dataFormat });
    return { format: dataFormat };
  }
  if (marker.format > dataFormat)
    throw new StartError(
      `${folder} was written by a newer version of stepform (data format ${marker.format}; this version reads ${dataFormat}). ` +
        'Start that version or a later one, restore a backup that this version made, or set STEPFORM_DATA to another folder.',
    );
  if (marker.format < dataFormat)
    throw new StartError(
      `${folder} was written by an earlier version of stepform (data format ${marker.format}; this version reads ${dataFormat}). ` +
        'Use that version, or set STEPFORM_DATA to a new folder and copy the organization with stepform import (infra/docs/releases.md).',
    );
  const missing = marker.used ? lasting.filter((file) => !existsSync(join(folder, file))) : [];
  if (missing.length > 0)
    throw new StartError(
      `${folder} was used before, but ${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing. ${afterDamage}`,
    );
  return marker;
};

/**
 * Undefined if the folder has none.
 * @throws StartError
 */
export const formatOf = (folder: string): number | undefined => readMarker(folder)?.format;

/** Marks that a platform is ready on the folder. */
export const markUsed = (folder: string): void => {
  if (!readMarker(folder)?.used) write(folder, { format: dataFormat, used: true });
};

/** Marks that the restored runs have ended. */
export const markRecovered = (folder: string): void => write(folder, { format: dataFormat, used: true });

/** Marks a restored folder before its next start. */
export const markRestored = (folder: string, recoverTo: string): void =>
  write(folder, { format: dataFormat, used: true, recoverTo });

const write = (folder: string, marker: Marker): void =>
  writePrivately(join(folder, name), `${JSON.stringify(marker)}\n`);

const readMarker = (folder: string): Marker | undefined => {
  const marker = readSteering<Marker>(
    join(folder, name),
    `If this version wrote the folder, replace its content with {"format":${dataFormat},"used":true}. Otherwise: ${afterDamage}`,
  );
  if (marker === undefined || Number.isInteger(marker.format)) return marker;
  throw new StartError(`${join(folder, name)} has no format. ${afterDamage}`);
};
