import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isLoopback } from '#platform/net/transport/plain-http.ts';
import { root } from '#platform/program.ts';

/** A platform that runs, or ran, on this machine, as described by `local.json` in its data folder. */
export interface LocalPlatform {
  url: string;
  httpsUrl: string;
  organization: string;
  token: string;
  /** Path of that `local.json`. */
  path: string;
}

const upwards = (from: string): string[] => {
  const parent = dirname(from);
  return parent === from ? [from] : [from, ...upwards(parent)];
};

/** From STEPFORM_DATA, else this folder or a parent, else the checkout. */
export const findLocalPlatform = (folder = process.cwd(), env = process.env): LocalPlatform | undefined => {
  const folders = env.STEPFORM_DATA
    ? [resolve(env.STEPFORM_DATA)]
    : [...upwards(resolve(folder)), root].map((above) => join(above, '.stepform'));
  const path = folders.map((data) => join(data, 'local.json')).find((file) => existsSync(file));
  const platform = path ? { ...(JSON.parse(readFileSync(path, 'utf8')) as LocalPlatform), path } : undefined;
  // A downloaded folder must not redirect configurations to a remote server.
  return platform && isLoopback(new URL(platform.url)) ? platform : undefined;
};

/** Whether the host is this platform, by its HTTP or its HTTPS address. */
export const isAt = ({ url, httpsUrl }: LocalPlatform, host: string): boolean =>
  [url, httpsUrl].some((address) => new URL(address).host === host);
