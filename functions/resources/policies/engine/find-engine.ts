import { access, chmod, constants, mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { environment } from '#platform/environment.ts';
import { fetchFile } from '#platform/net/binary/fetch.ts';
import type { Engine } from './engine.ts';
import { openOpa } from './opa.ts';
import { openSentinel } from './sentinel.ts';

/** The version to download or build; a binary on the PATH takes precedence. */
export const opaVersion = '1.19.0';

/** SHA-256 of that release's files (OPA releases: `<file>.sha256`), by platform and architecture as Node names them. */
const released: Record<string, { file: string; sha256: string }> = {
  'linux x64': {
    file: 'opa_linux_amd64_static',
    sha256: '1dd5c5591ff856f5e20a1d66bafae9511ddf3c5552ed3b5070c70b2b6580ee3f',
  },
  'linux arm64': {
    file: 'opa_linux_arm64_static',
    sha256: '06680087ed236c8c6aaa021660d83178db829a2ad30bdb3482481fada6791b2a',
  },
  'darwin arm64': {
    file: 'opa_darwin_arm64_static',
    sha256: '6de003137cc54b65cb4a6a9c7cf6b29a248f10c1c16fc34f793a8a83b5f9d004',
  },
  'darwin x64': {
    file: 'opa_darwin_amd64',
    sha256: 'a6bb096502d176a23b721e023f3ca615a0e4773fec69511143093a2281118f5c',
  },
};

export type Released = (typeof released)[string];

/** Engines are located when the first policy is evaluated; the error for a missing one names the remedy. */
class EngineMissingError extends Error {
  override name = 'EngineMissingError';
}

/** Finds an executable on the search path. */
export const onPath = async (name: string): Promise<string | undefined> => {
  for (const folder of environment.searchPath) {
    const path = join(folder, name);
    if (await isExecutable(path)) return path;
  }
  return undefined;
};

const isExecutable = async (path: string): Promise<boolean> => {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
};

/** Path of the downloaded or built release. */
export const keptOpa = (): string => join(environment.cacheDirectory, 'opa', opaVersion, 'opa');

/**
 * Downloads the pinned release and verifies it. Concurrent downloads are safe; both end with a complete file.
 * @throws {Error} when the download fails or the checksum differs
 */
export const downloadOpa = async (
  signal: AbortSignal,
  release: Released | undefined = released[`${process.platform} ${process.arch}`],
): Promise<string> => {
  if (!release) throw new Error(`no release for ${process.platform} on ${process.arch}`);
  const target = keptOpa();
  await mkdir(join(target, '..'), { recursive: true });
  const scratch = await mkdtemp(join(target, '..', '.download-'));
  try {
    const url = `${environment.opaReleases}/v${opaVersion}/${release.file}`;
    const file = join(scratch, 'opa');
    const sha256 = await fetchFile(url, file, signal);
    if (sha256 !== release.sha256) throw new Error(`${url} has checksum ${sha256} instead of ${release.sha256}`);
    await chmod(file, 0o755);
    await rename(file, target);
    return target;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
};

/** Path of a usable binary, without downloading one. */
export const opaAtHand = async (): Promise<string | undefined> => {
  const installed = await onPath('opa');
  if (installed) return installed;
  return (await isExecutable(keptOpa())) ? keptOpa() : undefined;
};

const downloadSeconds = 60;
const findSentinelOnce = async (): Promise<Engine> => {
  const binary = await onPath('sentinel');
  if (binary) return openSentinel(binary);
  throw new EngineMissingError(
    'Sentinel is not installed; its license does not allow distributing it. The operator of this platform can provide the binary. Or write the policy in Rego.',
  );
};

const find = async (): Promise<Engine> => {
  const binary = await opaAtHand();
  if (binary) return openOpa(binary);
  try {
    return await openOpa(await downloadOpa(AbortSignal.timeout(downloadSeconds * 1000)));
  } catch (error) {
    throw new EngineMissingError(
      `Open Policy Agent is not installed: opa is not on the PATH, and the download failed (${(error as Error).message}). ` +
        'The operator of this platform can install it.',
    );
  }
};

/** Caches a success, but not a failure. */
const remembered = (open: () => Promise<Engine>): (() => Promise<Engine>) => {
  let opened: Promise<Engine> | undefined;
  return () => {
    opened ??= open().catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
};

/** Both throw {@link EngineMissingError}. */
export const findOpa = remembered(find);
export const findSentinel = remembered(findSentinelOnce);
