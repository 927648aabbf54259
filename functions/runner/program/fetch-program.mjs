// Starts the runner in an image other than the platform's: downloads the program from the platform's storage. This
// text is passed to ECS with the checksum of the program (infra/build/runner-image.ts). It has no template literals:
// CloudFormation's validators take them for a forgotten Fn::Sub (E1029).
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';

const { STEPFORM_URL, STEPFORM_PROGRAM, STEPFORM_PROGRAM_SHA256 } = process.env;
const url = [STEPFORM_URL, 'runner/v1/program', STEPFORM_PROGRAM].join('/');
const tries = 6;
const firstPauseMs = 500;

const readProgram = async (attempt = 1) => {
  try {
    const answer = await fetch(url);
    if (!answer.ok) throw new Error('HTTP '.concat(answer.status));
    return Buffer.from(await answer.arrayBuffer());
  } catch (error) {
    if (attempt === tries) throw new Error("Can't read the runner's program from ".concat(url, ': ', error.message));
    await setTimeout(firstPauseMs * 2 ** attempt);
    return readProgram(attempt + 1);
  }
};

// Same as in the platform's own image (Dockerfile). The root file system is read-only.
process.env.HOME = tmpdir();
process.env.STEPFORM_TERRAFORM_USERS ??= '60000';

const program = await readProgram();
if (createHash('sha256').update(program).digest('hex') !== STEPFORM_PROGRAM_SHA256)
  throw new Error(url.concat(" does not contain the runner's program (wrong checksum). Deploy the platform again."));
// The folder of a volume that is missing in the image is writable only by root.
if (tmpdir() === '/tmp' && process.getuid() === 0) chmodSync('/tmp', 0o1777);
const folder = mkdtempSync(join(tmpdir(), 'runner-'));
for (const [name, content] of Object.entries(JSON.parse(gunzipSync(program).toString('utf8')))) {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
await import(pathToFileURL(join(folder, 'main.mjs')).href);
