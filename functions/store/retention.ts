import { shortestRetentionDays } from '../run/retention.ts';
import { objectSize } from './bucket.ts';

const shortestMs = shortestRetentionDays * 24 * 3600 * 1000;

/** Content that the bucket let go of after the time that was set for it. 1 request to S3 for what is old, none else. */
export const hasExpired = async (key: string, createdAt: string): Promise<boolean> =>
  Date.now() - Date.parse(createdAt) > shortestMs && (await objectSize(key)) === undefined;
