import { execFile } from 'node:child_process';
import { copyFile, cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** Programs that tests meet as others made them, built from unmodified source by way of the Go module proxy. */

const run = promisify(execFile);

/** The same for all builds, so that they share compiled packages. */
const always = ['-mod=mod', '-trimpath', '-buildvcs=false'];

/**
 * Where speed is no matter: without optimizations and debug information the compiler takes a quarter less of the processor
 * (the provider `coder/coder`: 41 s instead of 56 s).
 */
const fastToCompile = '-gcflags=all=-N -l -dwarf=false';
const fastToRun = '-gcflags=all=-dwarf=false';

interface GoProgram {
  /** The module that Go works in. */
  folder: string;
  /** Package with the main function, from `folder`. */
  program: string;
  target: string;
  tags?: string[];
  /** Package variables that say the version. */
  variables?: Record<string, string>;
  /** Whether C code is compiled with it; needs a C compiler. */
  cgo?: boolean;
  /** Worth optimizing: it takes more of each run of tests than of the compiler. */
  isBusy?: boolean;
  /** Ends it. */
  signal?: AbortSignal;
}

/** @throws {Error} with what the compiler printed */
export const goBuild = async ({
  folder,
  program,
  target,
  tags = [],
  variables = {},
  cgo,
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
    await run('go', ['build', ...flags, '-o', built, program], { cwd: folder, env, maxBuffer: 1 << 26, signal });
    await mkdir(dirname(target), { recursive: true });
    // Beside the target first: whoever looks meanwhile finds all of it or nothing.
    const beside = `${target}.${process.pid}`;
    await copyFile(built, beside);
    await rename(beside, target);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
};

/** Copies the source of a module, to be built in `scratch`. @returns its folder */
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

/** Runs `work` with a folder of its own that is removed afterwards. */
export const inScratch = async (work: (scratch: string) => Promise<void>): Promise<void> => {
  const scratch = await mkdtemp(join(tmpdir(), 'go-source-'));
  try {
    await work(scratch);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
};
