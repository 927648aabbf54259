import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { machineCache } from '#infra/local/host/machine-cache.ts';
import { downloadOpa, keptOpa, opaAtHand } from '#resources/policies/engine/find-engine.ts';
import { opaVersion } from '#resources/policies/engine/opa-release.ts';

const run = promisify(execFile);
const downloadMs = 60_000;
const buildMs = 20 * 60_000;

/** The last lines of Go's output contain the error. */
const lastLines = (error: unknown): string => {
  const { stderr = '', message = '' } = error as { stderr?: string; message?: string };
  return (stderr || message).trim().split('\n').slice(-3).join(' ');
};

/** From source through the Go module proxy; Go verifies the checksums. 1 to 5 minutes. */
const build = async (): Promise<string> => {
  const scratch = await mkdtemp(join(tmpdir(), 'opa-'));
  try {
    await run('go', ['install', '-trimpath', '-ldflags=-s -w', `github.com/open-policy-agent/opa@v${opaVersion}`], {
      env: { ...process.env, GOBIN: scratch, CGO_ENABLED: '0', GOFLAGS: '' },
      timeout: buildMs,
    });
    const target = keptOpa();
    await mkdir(dirname(target), { recursive: true });
    // Written next to the target first: a rename is atomic only within one file system.
    const beside = `${target}.${process.pid}`;
    await copyFile(join(scratch, 'opa'), beside);
    await rename(beside, target);
    return target;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
};

/**
 * Path of `opa` on this machine: from the PATH, from the cache, downloaded, or built with Go.
 * @throws {Error} with all attempts and the remedy
 */
export const provideOpa = async (tell: (text: string) => void): Promise<string> => {
  process.env.STEPFORM_CACHE ??= machineCache;
  const atHand = await opaAtHand();
  if (atHand) return atHand;
  try {
    return await downloadOpa(AbortSignal.timeout(downloadMs));
  } catch (download) {
    tell(
      `OPA ${opaVersion} cannot be downloaded (${(download as Error).message}); building it with Go, which takes some minutes …`,
    );
    try {
      return await build();
    } catch (error) {
      throw new Error(
        `There is no Open Policy Agent on this machine: no opa on the PATH, the download failed (${(download as Error).message}), ` +
          `and so did building it with Go (${lastLines(error)}). Install opa ${opaVersion} or Go, or let this machine reach GitHub's releases.`,
      );
    }
  }
};

if (import.meta.main) console.log(await provideOpa(console.error));
