import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, cp } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { machineCache } from '#infra/local/host/machine-cache.ts';
import { goBuild, inScratch } from '#test/support/go-build.ts';

/**
 * Gitea as a real forge for tests, built from source through the Go module proxy, whose checksums Go verifies; once
 * per machine: `npm run gitea`.
 */

const run = promisify(execFile);
const version = '1.26.0';
const kept = join(machineCache, 'gitea', `gitea-${version}-optimized`);
/** Templates and options, which the binary does not contain. */
export const giteaStatic = join(machineCache, 'gitea', `static-${version}`);

/** Undefined if it was not built. */
export const giteaBinary = (): string | undefined =>
  [process.env.STEPFORM_GITEA, kept].find((path) => path !== undefined && existsSync(path));

/** @returns the path of the binary, after building it if necessary */
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
    // Built last: if the binary exists, so does everything else.
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
