import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { machineCache } from '../../../infra/local/machine-cache.ts';

/**
 * A real forge for tests: Gitea, built from source by way of the Go module proxy, whose checksums Go verifies. That takes
 * some ten minutes of two processors, once for a machine: `node test/version-control/gitea/binary.ts`.
 */

const run = promisify(execFile);
const version = '1.26.0';
const kept = join(machineCache, 'gitea', `gitea-${version}`);
/** Its templates and options, which are not in the binary. */
export const giteaStatic = join(machineCache, 'gitea', `static-${version}`);

/** Undefined where it was not built. */
export const giteaBinary = (): string | undefined =>
  [process.env.STEPFORM_GITEA, kept].find((path) => path !== undefined && existsSync(path));

const build = async (): Promise<void> => {
  const scratch = await mkdtemp(join(tmpdir(), 'gitea-'));
  try {
    for (const file of ['go.mod', 'go.sum']) await copyFile(join(import.meta.dirname, file), join(scratch, file));
    const flags = ['-mod=mod', '-trimpath', '-tags', 'sqlite sqlite_unlock_notify'];
    const linking = ['-ldflags', `-s -w -X main.Version=${version}`];
    await run('go', ['build', ...flags, ...linking, '-o', join(scratch, 'gitea'), 'code.gitea.io/gitea'], {
      cwd: scratch,
      env: { ...process.env, GOFLAGS: '-buildvcs=false' },
      maxBuffer: 64 * 1024 * 1024,
    });
    const { stdout } = await run('go', ['list', '-mod=mod', '-m', '-f', '{{.Dir}}', 'code.gitea.io/gitea'], {
      cwd: scratch,
    });
    await mkdir(dirname(kept), { recursive: true });
    for (const folder of ['templates', 'options']) {
      await cp(join(stdout.trim(), folder), join(giteaStatic, folder), { recursive: true });
    }
    // Last: with it the rest is there.
    await copyFile(join(scratch, 'gitea'), `${kept}.${process.pid}`);
    await rename(`${kept}.${process.pid}`, kept);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
};

if (import.meta.main) {
  if (!giteaBinary()) await build();
  console.log(giteaBinary());
}
