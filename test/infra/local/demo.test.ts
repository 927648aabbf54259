import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { until } from './support/until.ts';

const program = resolve(import.meta.dirname, '../../../infra/local/demo/main.ts');
/** A viewer at a terminal, as far as the demo can see. */
const onTerminal = 'data:text/javascript,process.stdin.isTTY = process.stderr.isTTY = true';
const child = spawn(process.execPath, ['--import', onTerminal, program]);
afterAll(() => child.kill('SIGKILL'));

it('the demo applies when the viewer types yes, and its page stays open until Enter', {
  timeout: 300_000,
}, async () => {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (text += data));
  const ended = new Promise((done) => child.once('exit', done));
  const says = (words: string) => until(words, () => text.includes(words), 240_000);

  await says('Apply these changes?');
  expect(text).not.toContain('Applied');
  child.stdin.write('perhaps\n');
  await until('the question again', () => text.split('Type "yes"').length > 2);
  child.stdin.write('yes\n');
  await says('press Enter\n> ');
  for (const part of ['Applied', 'created to applied', 'What it would have cost on AWS', 'Plan Errored'])
    expect(text).toContain(part);

  const [, url] = /page {3}(\S+)\//.exec(text) ?? [];
  const [, token] = /token {2}(\S+)/.exec(text) ?? [];
  const ask = () =>
    fetch(`${url}/api/v2/organizations/local/workspaces/demo`, { headers: { authorization: `Bearer ${token}` } });
  expect((await ask()).status).toBe(200);
  child.stdin.write('\n');
  expect(await ended).toBe(0);
  await expect(ask()).rejects.toThrow();
});
