import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { machineCache } from '#infra/local/host/machine-cache.ts';
import { goBuild, inScratch, sourceOf } from '#test/support/go-build.ts';

/**
 * Gitea as a real forge for tests, built from source through the Go module proxy, whose checksums Go verifies; once
 * per machine: `npm run gitea`.
 */

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
  await inScratch(async (scratch) => {
    const folder = await sourceOf(`code.gitea.io/gitea@v${version}`, scratch, signal);
    for (const part of ['templates', 'options']) {
      await cp(join(folder, part), join(giteaStatic, part), { recursive: true });
    }
    // Built last: if the binary exists, so does everything else.
    await goBuild({
      folder,
      program: '.',
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
