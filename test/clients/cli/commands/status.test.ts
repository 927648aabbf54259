import { stripVTControlCharacters } from 'node:util';
import { afterEach, expect, it, vi } from 'vitest';
import { parse } from '#clients/cli/arguments.ts';
import { findCommand } from '#clients/cli/commands.ts';
import { Session } from '#clients/cli/session.ts';

/** What `stepform status` says about policy sets. */

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});

const workspaces = [{ id: 'ws-1', type: 'workspaces', attributes: { name: 'net', locked: false }, relationships: {} }];
const set = (id: string, newest: string) => ({
  id,
  type: 'policy-sets',
  attributes: { name: id },
  relationships: { 'newest-version': { data: { type: 'policy-set-versions', id: newest } } },
});
const version = (id: string, problem: string | null) => ({
  id,
  type: 'policy-set-versions',
  attributes: { 'error-message': problem },
});
const problem = 'The policies do not compile: policy.rego line 2: rego_parse_error';
const policySets = {
  data: [set('buckets', 'polsetver-1'), set('costs', 'polsetver-2')],
  included: [version('polsetver-1', null), version('polsetver-2', problem)],
};

/** @param answer of the list of policy sets */
const printed = async (answer: Response): Promise<string> => {
  vi.stubEnv('TFE_ADDRESS', 'https://tfe.example');
  vi.stubEnv('TFE_TOKEN', 'of-env');
  vi.stubGlobal('fetch', async (url: string) =>
    new URL(url).pathname.endsWith('/policy-sets') ? answer : Response.json({ data: workspaces }),
  );
  let text = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((part) => {
    text += part;
    return true;
  });
  const match = findCommand(['status', '--once', '--organization', 'acme']);
  if (!match) throw new Error('no command');
  const call = parse(match.command, match.rest);
  await match.command.run(call, new Session({ text: (name) => call.text(name) }));
  return stripVTControlCharacters(text);
};

it('policies that were rejected are named with the reason', async () => {
  const text = await printed(Response.json(policySets));
  expect(text).toContain(`Policies rejected\n  costs  ${problem}\n\nAll well in the other 1 workspace.`);
  expect(text).not.toContain('buckets');
});

it.each([403, 404])('users without permission to read policies (%i) see their workspaces', async (status) => {
  const text = await printed(Response.json({ errors: [{ status: String(status), title: 'no' }] }, { status }));
  expect(text).toContain('All well in 1 workspace.');
});

it('an answer that fails otherwise is not taken for no policies', async () => {
  await expect(
    printed(Response.json({ errors: [{ status: '400', title: 'bad' }] }, { status: 400 })),
  ).rejects.toThrow();
});
