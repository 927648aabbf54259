import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, cp } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { machineCache } from '#infra/local/host/machine-cache.ts';
import { goBuild, inScratch } from '#test/support/go-build.ts';

/**
 * A real forge for tests: Gitea, built from source by way of the Go module proxy, whose checksums Go verifies, once for a
 * machine: `npm run gitea`.
 */

const run = promisify(execFile);
const version = '1.26.0';
const kept = join(machineCache, 'gitea', `gitea-${version}-optimized`);
/** Its templates and options, which are not in the binary. */
export const giteaStatic = join(machineCache, 'gitea', `static-${version}`);

/** Undefined where it was not built. */
export const giteaBinary = (): string | undefined =>
  [process.env.STEPFORM_GITEA, kept].find((path) => path !== undefined && existsSync(path));

/** @returns the path of the binary, built if it is not there yet */
export const provideGitea = async (signal?: AbortSignal): Promise<string> => {
  const atHand = giteaBinary();
  if (atHand) return atHand;
  await inScratch(async (folder) => {
    for (const file of ['go.mod', 'go.sum']) await copyFile(join(import.meta.dirname, file), join(folder, file));
    const { stdout } = await run('go', ['mod', 'download', '-json', 'code.gitea.io/gitea'], {
      cwd: folder,
      signal,
    });
    const { Dir: source } = JSON.parse(stdout) as { Dir: string };
    for (const part of ['templates', 'options']) {
      await cp(join(source, part), join(giteaStatic, part), { recursive: true });
    }
    // Last: with it the rest is there.
    await goBuild({
      folder,
      program: 'code.gitea.io/gitea',
      target: kept,
      tags: ['sqlite', 'sqlite_unlock_notify'],
      variables: { 'main.Version': version },
      cgo: true,
      isBusy: true,
      signal,
    });
  });
  return kept;
};

if (import.meta.main) console.log(await provideGitea());
