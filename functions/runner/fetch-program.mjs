// Starts the runner in an image that is not the platform's own: reads the program from the platform's storage. ECS is given this
// text itself (infra/runner-image.ts), with the checksum of what it may run.
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';

const { STEPFORM_URL, STEPFORM_PROGRAM, STEPFORM_PROGRAM_SHA256 } = process.env;
const url = `${STEPFORM_URL}/runner/v1/program/${STEPFORM_PROGRAM}`;
const tries = 6;
const firstPauseMs = 500;

const read = async (attempt = 1) => {
  try {
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
    return Buffer.from(await answer.arrayBuffer());
  } catch (error) {
    if (attempt === tries) throw new Error(`The runner's program cannot be read from ${url}: ${error.message}`);
    await setTimeout(firstPauseMs * 2 ** attempt);
    return read(attempt + 1);
  }
};

// As the platform's own image has it (Dockerfile). The root file system cannot be written.
process.env.HOME = tmpdir();
process.env.STEPFORM_TERRAFORM_USERS ??= '60000';

const program = await read();
if (createHash('sha256').update(program).digest('hex') !== STEPFORM_PROGRAM_SHA256)
  throw new Error(`What ${url} gives is not the runner's program: deploy the platform again.`);
// A volume whose folder the image does not prepare is for root alone.
if (tmpdir() === '/tmp' && process.getuid() === 0) chmodSync('/tmp', 0o1777);
const folder = mkdtempSync(join(tmpdir(), 'runner-'));
for (const [name, content] of Object.entries(JSON.parse(gunzipSync(program).toString('utf8')))) {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
await import(pathToFileURL(join(folder, 'main.mjs')).href);
