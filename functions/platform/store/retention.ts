import { shortestRetentionDays } from '#run/retention.ts';
import { objectSize } from './bucket.ts';

const shortestMs = shortestRetentionDays * 24 * 3600 * 1000;

/** Whether the content has expired in the bucket. 1 request to S3 for old content, otherwise none. */
export const hasExpired = async (key: string, createdAt: string): Promise<boolean> =>
  Date.now() - Date.parse(createdAt) > shortestMs && (await objectSize(key)) === undefined;
