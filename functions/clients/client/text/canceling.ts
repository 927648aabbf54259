import { visible } from '#platform/text/visible.ts';
import type { Resource } from '../client.ts';
import { count, duration } from './time.ts';

/** Further resources are only counted. */
const maxNamed = 3;

/**
 * Resources that Terraform finishes before a canceled run ends, oldest first: `aws_db_instance.main, 3 min 10 s`.
 * @param now milliseconds since 1970
 * @returns undefined when the runner has reported no resources
 */
export const finishing = ({ attributes }: Resource<'runs'>, now: number): string | undefined => {
  const open: { address: string; since: string }[] = attributes['finishing-resources'] ?? [];
  if (open.length === 0) return undefined;
  const named = open
    .slice(0, maxNamed)
    .map(({ address, since }) => `${visible(address)}, ${duration(now - Date.parse(since))}`);
  const others = open.length - named.length;
  return [...named, ...(others ? [`and ${count(others, 'other resource')}`] : [])].join('; ');
};
