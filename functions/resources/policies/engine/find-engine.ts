import { access, chmod, constants, mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { environment } from '#platform/environment.ts';
import { fetchFile } from '#platform/net/binary/fetch.ts';
import { getToolVersion, type ToolVersion } from '../tool-versions/records.ts';
import type { Engine } from './engine.ts';
import { openOpa } from './opa.ts';
import { opaVersion, released } from './opa-release.ts';
import { openSentinel } from './sentinel.ts';

type Released = (typeof released)[string];

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

/** Concurrent downloads are safe; each ends with a complete file. @throws {Error} when it fails or the checksum differs */
const download = async (url: string, sha256: string, target: string, signal: AbortSignal): Promise<string> => {
  await mkdir(join(target, '..'), { recursive: true });
  const scratch = await mkdtemp(join(target, '..', '.download-'));
  try {
    const file = join(scratch, 'opa');
    const actual = await fetchFile(url, file, signal);
    if (actual !== sha256) throw new Error(`${url} has checksum ${actual} instead of ${sha256}`);
    await chmod(file, 0o755);
    await rename(file, target);
    return target;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
};

/**
 * Downloads the pinned release and verifies it.
 * @throws {Error} when the download fails or the checksum differs
 */
export const downloadOpa = async (
  signal: AbortSignal,
  release: Released | undefined = released[`${process.platform} ${process.arch}`],
): Promise<string> => {
  if (!release) throw new Error(`no release for ${process.platform} on ${process.arch}`);
  return download(`${environment.opaReleases}/v${opaVersion}/${release.file}`, release.sha256, keptOpa(), signal);
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

const installedOpa = remembered(find);
const installedSentinel = remembered(findSentinelOnce);

const architectures: Record<string, string> = { x64: 'amd64', arm64: 'arm64' };
const addedOpa = new Map<string, () => Promise<Engine>>();

/**
 * A version that the operator added. Its binary runs in the control plane, so it has to come from OPA's releases (or
 * the mirror that the deployment names): a user's token alone must not choose the program.
 */
const openAdded = async ({ version, enabled, archs }: ToolVersion): Promise<Engine> => {
  const unusable = (reason: string) => new EngineMissingError(`OPA ${version} cannot be used: ${reason}.`);
  if (!enabled) throw unusable('the operator of this platform disabled it');
  const { url, sha } = archs.find(({ arch }) => arch === architectures[process.arch]) ?? {};
  if (!url || !sha) throw unusable(`it has no build for ${architectures[process.arch] ?? process.arch}`);
  if (!new URL(url).href.startsWith(`${environment.opaReleases}/`)) {
    throw unusable(`its URL is not below ${environment.opaReleases}, the only place that OPA is downloaded from`);
  }
  const target = join(environment.cacheDirectory, 'opa', sha, 'opa');
  const open = async () => {
    try {
      const isKept = await isExecutable(target);
      return await openOpa(
        isKept ? target : await download(url, sha, target, AbortSignal.timeout(downloadSeconds * 1000)),
      );
    } catch (error) {
      throw unusable((error as Error).message);
    }
  };
  const opened = addedOpa.get(sha) ?? remembered(open);
  addedOpa.set(sha, opened);
  return opened();
};

/** Both take the version that the set requires, empty for any: 1 read for one. @throws {EngineMissingError} */
export const findOpa = async (required: string): Promise<Engine> => {
  const added = required ? await getToolVersion('opa', required) : undefined;
  return added ? openAdded(added) : installedOpa();
};

export const findSentinel = async (required: string): Promise<Engine> => {
  const engine = await installedSentinel();
  if (required && engine.version !== required && (await getToolVersion('sentinel', required))) {
    throw new EngineMissingError(
      `Sentinel ${required} is not installed, but ${engine.version}. The operator of this platform can provide the other binary; or change policy-tool-version.`,
    );
  }
  return engine;
};
