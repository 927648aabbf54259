import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { hostSettings } from '#clients/cli/terraform-host.ts';
import { machineCache } from '#infra/local/host/machine-cache.ts';
import { opaAtHand } from '#resources/policies/engine/find-engine.ts';
import { client, newName, organization, platform } from './support/world.ts';

/**
 * Runs the pages that users copy from, against the platform, each in an organization of its own. In order:
 *
 * - ```` ```hcl main.tf ```` writes a file into the current folder
 * - ```` ```sh run ```` runs commands, all of a page in one shell
 * - ```` ```text output ```` names lines, in order, that the commands before it print
 */

const docs = fileURLToPath(new URL('../../infra/docs', import.meta.url));
const command = fileURLToPath(new URL('../../functions/clients/cli/stepform.mjs', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'tutorials-'));
// Terraform of a run, possibly as another user.
chmodSync(root, 0o711);
afterAll(() => rmSync(root, { recursive: true, force: true }));

process.env.STEPFORM_CACHE ??= machineCache;
const opa = await opaAtHand();

interface Block {
  kind: string;
  name: string;
  content: string;
}

const blocksOf = (page: string): Block[] =>
  [...page.matchAll(/^```(\w+) (\S+)\n([\s\S]*?)^```$/gm)].map(([, kind = '', name = '', content = '']) => ({
    kind,
    name,
    content,
  }));

const pages = readdirSync(docs, { recursive: true, encoding: 'utf8' })
  .filter(
    (name) =>
      name.endsWith('.md') && blocksOf(readFileSync(join(docs, name), 'utf8')).some(({ name }) => name === 'run'),
  )
  .sort();

const mark = '@@block@@';

/** One script, so that folders, variables and processes in the background last until the end of the page. */
const scriptOf = (blocks: Block[]): string =>
  [
    'set -eo pipefail; exec 2>&1',
    ...blocks.map(({ kind, name, content }) => {
      if (name === 'output') return '';
      return kind === 'sh' && name === 'run' ? `${content}\necho ${mark}` : `cat > ${name} <<'END'\n${content}END`;
    }),
  ].join('\n');

/** Settings of a user who has signed in with `stepform login --terraform`. */
const homeOf = (page: string, own: string): NodeJS.ProcessEnv => {
  const home = join(root, page.replaceAll(/\W/g, '-'));
  mkdirSync(join(home, '.terraform.d'), { recursive: true });
  mkdirSync(join(home, 'bin'));
  writeFileSync(join(home, '.terraform.d', 'stepform.tfrc'), hostSettings(platform.url, platform.token));
  writeFileSync(join(home, 'bin', 'stepform'), `#!/bin/sh\nexec '${process.execPath}' '${command}' "$@"\n`, {
    mode: 0o755,
  });
  if (opa) symlinkSync(opa, join(home, 'bin', 'opa'));
  return {
    PATH: `${join(home, 'bin')}:${process.env.PATH}`,
    HOME: home,
    CHECKPOINT_DISABLE: '1',
    GOGC: process.env.GOGC,
    // A page that names none works in the user's only organization.
    TF_CLOUD_ORGANIZATION: own,
    STEPFORM_DATA: join(home, 'none'),
    ADDRESS: platform.url,
    TOKEN: platform.token,
  };
};

const freePort = async (): Promise<string> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return String(port);
};

const runPage = async (page: string): Promise<{ code: unknown; output: string }> => {
  const own = newName('tutorial');
  await client.create('/organizations', 'organizations', { name: own, email: 'owner@example.com' });
  const blocks = blocksOf(readFileSync(join(docs, page), 'utf8'));
  let script = scriptOf(blocks)
    .replaceAll(`"${organization}"`, `"${own}"`)
    .replaceAll(`/${organization}/`, `/${own}/`)
    .replaceAll(`/${organization}"`, `/${own}"`);
  for (const port of new Set(script.match(/\b900\d\b/g))) script = script.replaceAll(port, await freePort());
  const env = homeOf(page, own);
  const child = spawn('bash', ['-c', script], {
    cwd: env.HOME,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise((done) => child.once('exit', done)).finally(() => {
    // Servers that the page has left in the background.
    try {
      process.kill(-(child.pid as number), 'SIGKILL');
    } catch {
      // There is none.
    }
  });
  const [out, code] = await Promise.all([text(child.stdout), ended]);
  return { code, output: stripVTControlCharacters(out) };
};

/** Columns may be wider than in the page. */
const squeezed = (line: string): string => line.trim().replaceAll(/ +/g, ' ');

it.for(pages)('the commands of %s work, and print its outputs', { timeout: 300_000 }, async (page, { skip }) => {
  const blocks = blocksOf(readFileSync(join(docs, page), 'utf8'));
  if (blocks.some(({ kind }) => kind === 'rego') && !opa) return skip('no OPA');
  const { code, output } = await runPage(page);
  expect(code, output).toBe(0);
  const outputs = output.split(mark);
  let at = -1;
  for (const { kind, name, content } of blocks) {
    if (kind === 'sh' && name === 'run') at++;
    if (name !== 'output') continue;
    let rest = squeezed(outputs[at] ?? '');
    for (const line of content.trim().split('\n').map(squeezed)) {
      const found = rest.indexOf(line);
      expect(found, `${page} lacks "${line}" in\n${outputs[at]}`).toBeGreaterThanOrEqual(0);
      rest = rest.slice(found + line.length);
    }
  }
});
