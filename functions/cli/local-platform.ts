import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A platform that runs, or ran, on this machine: what it has written into `local.json` of its data folder. */
export interface LocalPlatform {
  url: string;
  httpsUrl: string;
  organization: string;
  token: string;
  /** Of that `local.json`. */
  path: string;
}

const checkout = fileURLToPath(new URL('../..', import.meta.url));

const upwards = (from: string): string[] => {
  const parent = dirname(from);
  return parent === from ? [from] : [from, ...upwards(parent)];
};

/** The one that the environment names, else of this folder or one above it, else of the checkout. */
export const findLocalPlatform = (folder = process.cwd(), env = process.env): LocalPlatform | undefined => {
  const folders = env.STEPFORM_DATA
    ? [resolve(env.STEPFORM_DATA)]
    : [...upwards(resolve(folder)), checkout].map((above) => join(above, '.stepform'));
  const path = folders.map((data) => join(data, 'local.json')).find((file) => existsSync(file));
  const platform = path ? { ...(JSON.parse(readFileSync(path, 'utf8')) as LocalPlatform), path } : undefined;
  // A folder that came from elsewhere must not say where configurations are sent.
  return platform && loopback.test(new URL(platform.url).hostname) ? platform : undefined;
};

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Terraform speaks HTTPS with it; without a certificate to be trusted, HTTP on the same machine serves as well. */
export const isAt = ({ url, httpsUrl }: LocalPlatform, host: string): boolean =>
  [url, httpsUrl].some((one) => new URL(one).host === host);
