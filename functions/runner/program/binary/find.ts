import { createHash } from 'node:crypto';
import { access, constants, mkdir, readdir, readFile, realpath, rename, stat, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { messageOf } from '#platform/net/transport/errors.ts';
import type { Job } from '#run/protocols/runner.ts';
import { PhaseError } from '../errors.ts';
import type { Settings } from '../settings.ts';
import { platform } from './platform.ts';
import { constraint, exactVersion, newest } from './version.ts';

/** A Terraform or OpenTofu binary that starts. */
export interface Binary {
  engine: 'terraform' | 'tofu';
  path: string;
  version: string;
  /** As the binary reports it: `linux_arm64`. */
  platform: string;
}

const productName = { terraform: 'Terraform', tofu: 'OpenTofu' } as const;

/** Smaller files are wrapper scripts (tfenv, asdf), whose version depends on the directory they run in. */
const minBinaryBytes = 1024 * 1024;

type Wanted = Job['terraform'];

/** Runs `version -json` of a program. @returns its output @throws {Error} */
export type Ask = (path: string) => Promise<string>;

/**
 * The binary on PATH if its version matches, else an earlier download, else a new download.
 * @throws {PhaseError} with the version found, the version requested and the cause
 */
export const findBinary = async (
  wanted: Wanted,
  settings: Settings,
  signal: AbortSignal,
  ask: Ask,
): Promise<Binary> => {
  const { engine, version } = wanted;
  let satisfies: (version: string) => boolean;
  try {
    satisfies = constraint(version);
  } catch (error) {
    throw new PhaseError(`The workspace's ${productName[engine]} version is not valid: ${messageOf(error)}.`);
  }
  const { binary: onPath, broken } = await lookUp(engine, settings, ask);
  if (onPath && satisfies(onPath.version)) return onPath;
  const directory = join(settings.cacheDirectory, 'binaries');
  const downloads = await downloaded(directory, engine);
  const usable = version === 'latest' ? undefined : newest(downloads.keys(), satisfies);
  if (usable) return downloads.get(usable) as Binary;
  try {
    return await download(wanted, satisfies, settings, directory, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    const fallback = newest(downloads.keys(), satisfies);
    if (fallback) return downloads.get(fallback) as Binary;
    throw unavailable(wanted, { onPath, broken, downloads: [...downloads.keys()] }, error);
  }
};

interface Present {
  onPath?: Binary;
  /** Path of a program on the PATH that does not start, with the reason. */
  broken?: string;
  /** Downloaded versions. */
  downloads: string[];
}

const unavailable = ({ engine, version }: Wanted, present: Present, cause: unknown): PhaseError => {
  const { onPath, broken, downloads } = present;
  const product = productName[engine];
  const available = onPath
    ? `the one on the runner's PATH is ${onPath.version} (${onPath.path})`
    : (broken ?? `${engine} not found on the runner's PATH`);
  const usable = [...(onPath ? [onPath.version] : []), ...downloads];
  const remedy = usable.length
    ? `Set the ${product} version of the workspace to ${usable.slice(-5).join(' or ')}, which is available,`
    : `Put ${engine} on the PATH of the runner,`;
  return new PhaseError(
    `${product} ${version} was not found: ${available}, and a download failed (${messageOf(cause)}). ` +
      `${remedy} or allow the runner to reach the releases.`,
  );
};

const download = async (
  { engine, version }: Wanted,
  satisfies: (version: string) => boolean,
  { releases }: Settings,
  directory: string,
  signal: AbortSignal,
): Promise<Binary> => {
  // Loaded on demand: signature checking and unzipping are large and seldom needed.
  const { downloadBinary, listVersions } = await import('./download.ts');
  const exact = exactVersion(version) ?? newest(await listVersions(engine, releases, signal), satisfies);
  if (!exact) throw new Error('no released version matches');
  return {
    engine,
    path: await downloadBinary({ engine, version: exact, releases, directory, signal }),
    version: exact,
    platform,
  };
};

/** Earlier downloads, by version. */
const downloaded = async (directory: string, engine: Wanted['engine']): Promise<Map<string, Binary>> => {
  const names = await readdir(join(directory, engine)).catch(() => []);
  const versions = names.filter((name) => !name.startsWith('.'));
  return new Map(
    versions.map((version) => [version, { engine, version, platform, path: join(directory, engine, version, engine) }]),
  );
};

const lookUp = async (
  engine: Wanted['engine'],
  settings: Settings,
  ask: Ask,
): Promise<{ binary?: Binary; broken?: string }> => {
  let broken: string | undefined;
  for (const directory of (settings.inherited.PATH ?? '').split(delimiter).filter(Boolean)) {
    const path = join(directory, engine);
    try {
      await access(path, constants.X_OK);
    } catch {
      continue;
    }
    try {
      return { binary: { engine, path, ...(await askVersion(path, settings, ask)) } };
    } catch (error) {
      // The next directory may have another one.
      broken ??= `${path} on the runner's PATH does not report its version (${firstLine(messageOf(error))})`;
    }
  }
  return { broken };
};

const firstLine = (text: string): string => text.trim().split('\n')[0]?.slice(0, 300) ?? '';

type Answer = Pick<Binary, 'version' | 'platform'>;

/** Starting a process to read its version takes about 60 ms, so the version is cached until the file changes. */
const askVersion = async (path: string, { cacheDirectory }: Settings, ask: Ask): Promise<Answer> => {
  const real = await realpath(path);
  const { mtimeMs, size } = await stat(real);
  const name = createHash('sha256').update(`${real} ${mtimeMs} ${size}`).digest('hex').slice(0, 32);
  const file = join(cacheDirectory, 'versions', `${name}.json`);
  if (size >= minBinaryBytes) {
    const remembered = await readFile(file, 'utf8').then(JSON.parse, () => undefined);
    if (remembered?.version && remembered?.platform) return remembered;
  }
  const { terraform_version, platform } = JSON.parse(await ask(path)) as {
    terraform_version: string;
    platform: string;
  };
  const answer = { version: terraform_version, platform };
  await remember(file, answer).catch(() => {});
  return answer;
};

const remember = async (file: string, answer: Answer): Promise<void> => {
  await mkdir(join(file, '..'), { recursive: true });
  const scratch = `${file}.${process.pid}`;
  await writeFile(scratch, JSON.stringify(answer));
  await rename(scratch, file);
};
