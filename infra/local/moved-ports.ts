import { existsSync, readFileSync } from 'node:fs';
import type { Folder, Local } from './folder.ts';
import { portOf } from './ports.ts';
import { writePrivately } from './secrets.ts';

/**
 * A restarted platform whose former ports are taken has others, while runners from before know the former ones, and hold
 * URLs that were signed for them. The data folder says where each went; follow-platform.mjs reads it in the runner.
 */

type Urls = Pick<Local, 'url' | 'httpsUrl' | 'awsEndpointUrl'>;
type Moved = Record<number, number>;

const file = (folder: Folder): string => folder.at('moved-ports.json');

const portsOf = ({ url, httpsUrl, awsEndpointUrl }: Urls): number[] =>
  [url, httpsUrl, awsEndpointUrl].map((one) => portOf(one) ?? 0);

/** Of all former starts, whose ports may have moved several times. */
export const movedPorts = (known: Moved, before: Urls, now: Urls): Moved => {
  const current = portsOf(now);
  const latest = new Map(portsOf(before).map((port, i) => [port, current[i] as number]));
  const all = [...Object.entries(known).map(([from, to]) => [Number(from), latest.get(to) ?? to] as const), ...latest];
  return Object.fromEntries(all.filter(([from]) => !current.includes(from)));
};

/** Call before runners of former starts are followed again. */
export const noteMovedPorts = (folder: Folder, before: Urls | undefined, now: Urls): void => {
  if (!before) return;
  const known = existsSync(file(folder)) ? (JSON.parse(readFileSync(file(folder), 'utf8')) as Moved) : {};
  const moved = movedPorts(known, before, now);
  if (JSON.stringify(moved) !== JSON.stringify(known)) writePrivately(file(folder), JSON.stringify(moved));
};

/** Arguments for a runner's Node, before its program. */
export const followPlatform = (folder: Folder): string[] => {
  const preload = new URL('follow-platform.mjs', import.meta.url);
  preload.searchParams.set('file', file(folder));
  return ['--import', preload.href];
};
