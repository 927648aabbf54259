import { execFile } from 'node:child_process';
import { copyFile, cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** Third-party programs for tests, built from unmodified source through the Go module proxy. */

const run = promisify(execFile);

/** The same flags for all builds, so that they share compiled packages. */
const always = ['-mod=mod', '-trimpath', '-buildvcs=false'];

/**
 * For programs whose speed does not matter: without optimizations and debug information the compiler takes a quarter
 * less processor time (the provider `coder/coder`: 41 s instead of 56 s).
 */
const fastToCompile = '-gcflags=all=-N -l -dwarf=false';
const fastToRun = '-gcflags=all=-dwarf=false';

interface GoProgram {
  /** The working directory of Go. */
  folder: string;
  /** Package with the main function or the tests, relative to `folder`. */
  program: string;
  target: string;
  tags?: string[];
  /** Package variables with the version. */
  variables?: Record<string, string>;
  /** Compiles C code too; needs a C compiler. */
  cgo?: boolean;
  /** Builds the package's tests instead of its main function. */
  isTest?: boolean;
  /** Worth optimizing, because a test run spends more time in it than in the compiler. */
  isBusy?: boolean;
  /** Aborts the build. */
  signal?: AbortSignal;
}

/** @throws {Error} with the compiler's output */
export const goBuild = async ({
  folder,
  program,
  target,
  tags = [],
  variables = {},
  cgo,
  isTest,
  isBusy,
  signal,
}: GoProgram): Promise<void> => {
  const scratch = await mkdtemp(join(tmpdir(), 'go-build-'));
  try {
    const built = join(scratch, 'built');
    const values = Object.entries(variables).map(([name, value]) => `-X ${name}=${value}`);
    const compiler = isBusy ? fastToRun : fastToCompile;
    const flags = [...always, compiler, '-tags', tags.join(','), '-ldflags', ['-s -w', ...values].join(' ')];
    const env = { ...process.env, CGO_ENABLED: cgo ? '1' : '0', CGO_CFLAGS: isBusy ? '-O1' : '-O0', GOFLAGS: '' };
    await run('go', [...(isTest ? ['test', '-c'] : ['build']), ...flags, '-o', built, program], {
      cwd: folder,
      env,
      maxBuffer: 1 << 26,
      signal,
    });
    await mkdir(dirname(target), { recursive: true });
    // Written beside the target first, so that concurrent readers find all of it or nothing.
    const beside = `${target}.${process.pid}`;
    await copyFile(built, beside);
    await rename(beside, target);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
};

/** Copies the source of a module, to build it in `scratch`. @returns its folder */
export const sourceOf = async (module: string, scratch: string, signal?: AbortSignal): Promise<string> => {
  const { stdout } = await run('go', ['mod', 'download', '-json', module], {
    cwd: scratch,
    maxBuffer: 1 << 26,
    signal,
  });
  const folder = join(scratch, module.replaceAll(/\W/g, '-'));
  await cp((JSON.parse(stdout) as { Dir: string }).Dir, folder, { recursive: true });
  await run('chmod', ['-R', 'u+w', folder]);
  return folder;
};

/** Runs `work` with a temporary folder, which is removed afterwards. */
export const inScratch = async (work: (scratch: string) => Promise<void>): Promise<void> => {
  const scratch = await mkdtemp(join(tmpdir(), 'go-source-'));
  try {
    await work(scratch);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
};
