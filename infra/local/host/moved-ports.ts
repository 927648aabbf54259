import { readSteering, writePrivately } from '#infra/local/aws/ssm/secrets.ts';
import type { Folder } from './folder.ts';

/**
 * The ports of the last start, and the current port for each port of all earlier starts. A restarted platform whose
 * ports are taken uses others, while earlier runners know the previous ports and hold URLs that were signed for them:
 * follow-platform.mjs reads this file in the runner. It is separate from `local.json`, because it must be written
 * before anything that knows the ports starts; `local.json` is written when the platform is ready, and may be deleted.
 */

export interface Ports {
  http: number;
  https: number;
  environments: number;
  aws: number;
}

export interface KeptPorts {
  now: Ports;
  /** From each earlier port to the current one. */
  moved: Record<number, number>;
}

/** Path of the file. */
export const portsFile = (folder: Folder): string => folder.at('ports.json');

/** @throws StartError for a damaged file */
export const keptPorts = (folder: Folder): KeptPorts | undefined =>
  readSteering<KeptPorts>(
    portsFile(folder),
    'Delete it: the platform then uses its default ports. Set PORT and HTTPS_PORT to the previous ports, so that running runners find the platform.',
  );

/** Of all earlier starts, because ports may have moved several times. */
export const movedPorts = (before: KeptPorts | undefined, now: Ports): KeptPorts['moved'] => {
  if (!before) return {};
  const kinds = Object.keys(now) as (keyof Ports)[];
  const latest = new Map(kinds.map((kind) => [before.now[kind], now[kind]]));
  const former = Object.entries(before.moved).map(([from, to]) => [Number(from), latest.get(to) ?? to] as const);
  const current = new Set(Object.values(now));
  return Object.fromEntries([...former, ...latest].filter(([from]) => !current.has(from)));
};

/** Call before anything that knows these ports starts. */
export const keepPorts = (folder: Folder, before: KeptPorts | undefined, now: Ports): void => {
  const kept: KeptPorts = { now, moved: movedPorts(before, now) };
  if (JSON.stringify(kept) !== JSON.stringify(before)) writePrivately(portsFile(folder), JSON.stringify(kept));
};
