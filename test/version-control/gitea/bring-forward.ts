import { DeleteObjectCommand, S3Client } from '@aws-sdk/client-s3';
import type { ConfigurationVersion } from '#resources/configurations/records.ts';
import { sweep } from '#test/e2e/support/environments.ts';
import { operate } from '#test/e2e/support/operator.ts';
import { platform } from '#test/e2e/support/world.ts';

/** Makes version control handle work now that it postponed because a forge was down; only an operator can do this. */
export const bringForward = async (): Promise<void> => {
  operate(platform);
  const { dueShard, dueShards } = await import('#platform/store/due.ts');
  const { query, update } = await import('#platform/store/table.ts');
  for (let n = 0; n < dueShards; n++) {
    const items = await query<{ pk: string; sk: string }>({ pk: dueShard(n), index: 'due', limit: 1000 });
    for (const { pk, sk } of items.filter(({ sk }) => ['REPO', 'OC', 'OT'].includes(sk))) {
      await update({ pk, sk }, { set: { dueAt: new Date().toISOString() }, condition: 'attribute_exists(dueAt)' });
    }
  }
  await sweep();
};

/** Ages a configuration version until its archive counts as expired; only an operator can do this. */
export const expireArchive = async (versionId: string): Promise<void> => {
  operate(platform);
  const { objectSize } = await import('#platform/store/bucket.ts');
  const { keys } = await import('#platform/store/keys.ts');
  const { get, update } = await import('#platform/store/table.ts');
  const key = keys.configurationVersion(versionId);
  const version = await get<ConfigurationVersion>(key);
  if (!version?.archive) throw new Error(`${versionId} has no archive`);
  const s3 = new S3Client({ endpoint: platform.awsEndpointUrl, forcePathStyle: true });
  await s3.send(new DeleteObjectCommand({ Bucket: platform.bucketName, Key: version.archive.key }));
  if ((await objectSize(version.archive.key)) !== undefined) throw new Error('The archive is still there.');
  const longAgo = new Date(Date.now() - 3 * 86_400_000).toISOString();
  await update(key, { set: { createdAt: longAgo } });
  await update(keys.commitArchive(String(version.commitArchive)), { set: { since: longAgo } });
};
