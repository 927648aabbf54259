import { visible } from '#platform/text/visible.ts';
import type { Resource } from '../client.ts';
import { timeOfDay } from './time.ts';

/** Why a run still waits for its commit, after `Waiting `; undefined while no attempt has failed. */
export const fetchRetry = ({ attributes }: Resource<'runs'>): string | undefined => {
  const retry = attributes['fetch-retry'];
  return retry
    ? `for the commit. ${visible(retry.reason)} Next attempt at ${timeOfDay(retry['next-attempt-at'])}.`
    : undefined;
};
