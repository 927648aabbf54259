import type { EventBridgeEvent } from 'aws-lambda';
import { checkUpload, getConfigurationVersion } from '#resources/configurations/records.ts';
import { uploadSettled } from './create-run.ts';

type ObjectCreated = EventBridgeEvent<'Object Created', { object: { key: string } }>;

const form = /^uploads\/(cv-[A-Za-z0-9]+)\.tar\.gz$/;

/**
 * Handles the upload of a configuration: sets its status and starts its run. S3 events can be late
 * and can repeat.
 */
export const handler = async (event: ObjectCreated): Promise<void> => {
  const id = form.exec(event.detail.object.key)?.[1];
  const version = id && (await getConfigurationVersion(id));
  if (version) await uploadSettled(await checkUpload(version));
};
