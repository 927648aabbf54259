import { CoderError } from '../host/errors.ts';
import { settleVersion } from './import.ts';
import type { Version } from './versions.ts';

/** @throws {CoderError} 400 or 406 for a version that cannot be used */
export const checkImported = async (imported: Version): Promise<Version> => {
  const { version } = await settleVersion(imported);
  if (!version.completedAt) {
    throw new CoderError(406, 'The provided template version is running. Wait for it to complete importing!');
  }
  if (version.error || version.canceledAt) {
    throw new CoderError(
      400,
      `The provided template version "${version.name}" has failed to import: "${version.error ?? 'canceled'}". You cannot build workspaces with it!`,
    );
  }
  return version;
};
