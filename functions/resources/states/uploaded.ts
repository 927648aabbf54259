import type { EventBridgeEvent } from 'aws-lambda';
import { finalizeStateVersion } from './finalize.ts';
import { getStateVersion } from './records.ts';

type ObjectCreated = EventBridgeEvent<'Object Created', { object: { key: string } }>;

const form = /^uploads\/(sv-[A-Za-z0-9]+)\.tfstate$/;

/**
 * Finalizes an uploaded state. S3 events can be late and can repeat. A client that reads the version or unlocks the
 * workspace earlier finalizes it itself.
 */
export const handler = async (event: ObjectCreated): Promise<void> => {
  const id = form.exec(event.detail.object.key)?.[1];
  const version = id && (await getStateVersion(id));
  if (version) await finalizeStateVersion(version);
};
