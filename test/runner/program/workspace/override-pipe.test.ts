import { execFile } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OverridePipe } from '#runner/program/workspace/override-pipe.ts';

/** The backend's configuration as a pipe, which Terraform reads and `fileset` in a user's configuration does not find. */

const text = `terraform {\n  backend "local" { path = "../'state'" }\n}\n`;
let folder: string;
let pipe: OverridePipe;
const serving = async (of: string): Promise<OverridePipe> => {
  const made = await OverridePipe.make(of);
  made.serve(text);
  return made;
};
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pipe-'));
  pipe = await serving(join(folder, 'machine'));
});
afterAll(() => {
  pipe.close();
  rmSync(folder, { recursive: true });
});

// In a separate process, because an unserved pipe would block this one.
const read = async () =>
  (
    await promisify(execFile)('/bin/sh', ['-c', 'for n in 1 2 3; do cat "$1"; echo --; done', 'sh', pipe.path], {
      timeout: 10_000,
    })
  ).stdout;

describe('the override pipe', () => {
  it('is not a regular file, and gives every reader the whole text', async () => {
    expect(statSync(pipe.path).isFIFO()).toBe(true);
    expect(statSync(join(folder, 'machine')).mode).toBe(0o40755);
    expect(await read()).toBe(`${text}--\n`.repeat(3));
  });

  it('survives a reader that reads nothing', async () => {
    closeSync(openSync(pipe.path, constants.O_RDONLY));
    expect(await read()).toBe(`${text}--\n`.repeat(3));
  });

  it('serves more readers than pipes are created at once', async () => {
    const handles = () => (process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0);
    const before = handles();
    for (let n = 0; n < 8; n++) expect(await read()).toBe(`${text}--\n`.repeat(3));
    await expect.poll(handles, { timeout: 5000 }).toBeLessThan(before + 8);
  });

  it('does not keep its process alive, even if the pipe was removed', async () => {
    const module = new URL('../../../../functions/runner/program/workspace/override-pipe.ts', import.meta.url).href;
    const program = `
      const { OverridePipe } = await import('${module}');
      const { rmSync } = await import('node:fs');
      const pipe = await OverridePipe.make(process.argv[1]);
      pipe.serve('text');
      setTimeout(() => {
        if (process.argv[2]) rmSync(pipe.path);
        pipe.close();
        process.exitCode = 7;
      }, 100);`;
    const args = ['--input-type=module', '-e', program];
    for (const gone of ['', ...(process.platform === 'linux' ? ['gone'] : [])]) {
      const ended = promisify(execFile)(process.execPath, [...args, join(folder, `ending${gone}`), gone], {
        timeout: 20_000,
        killSignal: 'SIGKILL',
      });
      await expect(ended).rejects.toMatchObject({ code: 7 });
    }
  });

  it('is a file if pipes are not supported', async () => {
    writeFileSync(join(folder, 'backend.tf'), 'something else');
    const other = await serving(folder);
    expect(statSync(other.path).mode).toBe(0o100644);
    other.close();
  });
});
