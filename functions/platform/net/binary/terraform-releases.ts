import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { fetchSmall } from './fetch.ts';

/** The used part of releases.hashicorp.com's list (`index.json`). */
export interface TerraformRelease {
  version: string;
  builds?: { os: string; arch: string; url: string }[];
}

/** Every release of Terraform, in no order. @throws {TransportError | RefusedError} */
export const terraformReleases = async (releases: string, signal: AbortSignal): Promise<TerraformRelease[]> => {
  const index: unknown = JSON.parse((await fetchSmall(`${releases}/index.json`, signal)).toString('utf8'));
  return Object.values((index as { versions: Record<string, TerraformRelease> }).versions);
};

const askMs = 10_000;

/** Version of the `terraform` on this machine's PATH; undefined without one, as on Lambda. */
export const terraformOnPath = async (searchPath: string): Promise<string | undefined> => {
  try {
    const env = { PATH: searchPath, HOME: process.env.HOME, CHECKPOINT_DISABLE: '1' };
    const { stdout } = await promisify(execFile)('terraform', ['version', '-json'], { env, timeout: askMs });
    return (JSON.parse(stdout) as { terraform_version?: string }).terraform_version;
  } catch {
    return undefined;
  }
};
