import { execFile } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OverridePipe } from '../../../functions/runner/workspace/override-pipe.ts';

/** The configuration of the backend, which Terraform reads and no configuration lists. */

const text = `terraform {\n  backend "local" { path = "../'state'" }\n}\n`;
let folder: string;
let pipe: OverridePipe;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'pipe-'));
  pipe = new OverridePipe(join(folder, 'machine'), text);
});
afterAll(() => {
  pipe.close();
  rmSync(folder, { recursive: true });
});

// In a process of its own: a pipe that nobody serves would hang this one.
const read = async () =>
  (
    await promisify(execFile)('/bin/sh', ['-c', 'for n in 1 2 3; do cat "$1"; echo --; done', 'sh', pipe.path], {
      timeout: 10_000,
    })
  ).stdout;

describe('the override pipe', () => {
  it('is not a regular file, and gives every reader the whole text', async () => {
    expect(statSync(pipe.path).isFIFO()).toBe(true);
    expect(await read()).toBe(`${text}--\n`.repeat(3));
  });

  it('survives a reader that reads nothing', async () => {
    closeSync(openSync(pipe.path, constants.O_RDONLY));
    expect(await read()).toBe(`${text}--\n`.repeat(3));
  });

  it('serves more readers than pipes are made at once', async () => {
    for (let n = 0; n < 8; n++) expect(await read()).toBe(`${text}--\n`.repeat(3));
  });

  it('is a file where pipes are not supported', () => {
    writeFileSync(join(folder, 'backend.tf'), 'something else');
    const other = new OverridePipe(folder, text);
    expect(statSync(other.path).isFile()).toBe(true);
    other.close();
  });
});
