import { afterEach, expect, it, vi } from 'vitest';
import type { Call, Command } from '#clients/cli/arguments.ts';
import { parse } from '#clients/cli/arguments.ts';
import { findCommand } from '#clients/cli/commands.ts';
import { CommandError, exit } from '#clients/cli/exit.ts';
import { failureOf } from '#clients/cli/failures.ts';
import { Session } from '#clients/cli/session.ts';

/** Errors with cause and remedy, without a platform: each test provides the server's response. */

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});

const answering = (respond: (path: string) => Response) => {
  const requests: string[] = [];
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    requests.push(`${init.method ?? 'GET'} ${new URL(url).pathname}`);
    return respond(new URL(url).pathname);
  });
  return requests;
};

const commandOf = (...args: string[]): { command: Command; call: Call } => {
  const match = findCommand(args);
  if (!match) throw new Error(`no command: ${args.join(' ')}`);
  return { command: match.command, call: parse(match.command, match.rest) };
};

const failureOfCommand = async (...args: string[]) => {
  vi.stubEnv('TFE_ADDRESS', 'https://tfe.example');
  vi.stubEnv('TFE_TOKEN', 'of-env');
  const { command, call } = commandOf(...args);
  const session = new Session(call);
  const error: unknown = await command.run(call, session).then(
    () => new CommandError('it succeeded'),
    (reason: unknown) => reason,
  );
  const { code, errors } = failureOf(error, session.credentials);
  return { code, text: errors[0]?.title ?? '' };
};

const json = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status });

it.each([
  ['a web page', () => new Response('<!doctype html>')],
  ['another API', () => json([])],
])('an error names the address when %s responds', async (_, respond) => {
  answering(respond);
  const failure = await failureOfCommand('organizations', 'list');
  expect(failure.code).toBe(exit.failed);
  expect(failure.text).toContain('https://tfe.example responds, but not with HCP Terraform’s API');
});

it('an error names TFE_TOKEN when the server rejects it, because signing in would not replace it', async () => {
  answering(() => json({ errors: [{ status: '401', title: 'unauthorized' }] }, 401));
  const failure = await failureOfCommand('organizations', 'list');
  expect(failure).toEqual({
    code: exit.notAllowed,
    text: 'TFE_TOKEN is not a valid token for tfe.example. Set another one, or unset it and sign in: stepform login tfe.example',
  });
});

it('an error distinguishes a missing organization from a missing workspace', async () => {
  const notFound = () => json({ errors: [{ status: '404', title: 'not found' }] }, 404);
  answering(notFound);
  const options = ['--organization', 'acme', '--workspace', 'netwrok'];
  expect((await failureOfCommand('runs', 'list', ...options)).text).toContain('Organization acme not found');
  answering((path) =>
    path.endsWith('/workspaces') ? json({ data: [{ id: 'ws-1', attributes: { name: 'network' } }] }) : notFound(),
  );
  const { text } = await failureOfCommand('runs', 'list', ...options);
  expect(text).toContain('Workspace acme/netwrok not found');
  expect(text).toContain('Did you mean network?');
  expect(text).toContain('stepform workspaces create netwrok --organization acme');
});

it('a misspelled status is refused before any request', async () => {
  const requests = answering(() => json({ data: [] }));
  const failure = await failureOfCommand('runs', 'list', '--organization', 'acme', '--status', 'erored');
  expect(failure).toEqual({ code: exit.usage, text: '--status erored: not a status of runs. Did you mean errored?' });
  expect(requests).toEqual([]);
});

it('a variable set is not deleted without a confirmation', async () => {
  const requests = answering(() => json({ data: [{ id: 'varset-1', attributes: { name: 'aws' } }] }));
  const failure = await failureOfCommand('variable-sets', 'delete', 'aws', '--organization', 'acme');
  expect(failure.code).toBe(exit.usage);
  expect(failure.text).toContain('--yes');
  expect(requests.filter((request) => request.startsWith('DELETE'))).toEqual([]);
  expect((await failureOfCommand('variable-sets', 'delete', 'aws', '-o', 'acme', '--yes')).text).toBe('it succeeded');
  expect(requests).toContain('DELETE /api/v2/varsets/varset-1');
});

it('an error names a similar variable set when the named one does not exist', async () => {
  answering(() => json({ data: [{ id: 'varset-1', attributes: { name: 'aws' } }] }));
  const failure = await failureOfCommand('variable-sets', 'delete', 'asw', '-o', 'acme', '--yes');
  expect(failure).toEqual({
    code: exit.notFound,
    text: expect.stringMatching(/^Variable set asw not found.* Did you mean aws\? List them: \S+ variable-sets list$/),
  });
});

it('an error names SSL_CERT_FILE when it is not a certificate', async () => {
  const requests = answering(() => json({ data: [] }));
  vi.stubEnv('SSL_CERT_FILE', import.meta.filename);
  const failure = await failureOfCommand('organizations', 'list');
  expect(failure.text).toContain(`SSL_CERT_FILE (${import.meta.filename}) is not a valid certificate`);
  expect(requests).toEqual([]);
});

it.each([
  ['0'.repeat(64), exit.failed, 'State version sv-1 arrived with SHA-256'],
  ['44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a', exit.failed, 'it succeeded'],
])('a downloaded state is compared with its recorded SHA-256 %s', async (sha256, code, text) => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  answering((path) => {
    if (path.endsWith('/download')) return new Response('{}');
    return json({ data: { id: path.endsWith('/current-state-version') ? 'sv-1' : 'ws-1', attributes: { sha256 } } });
  });
  const failure = await failureOfCommand('state', 'pull', '-o', 'acme', '-w', 'network');
  expect(failure).toEqual({ code, text: expect.stringContaining(text) });
});

it('a run that has ended cannot be confirmed', async () => {
  const run = { id: 'run-1', type: 'runs', attributes: { status: 'canceled', actions: {}, permissions: {} } };
  const requests = answering(() => json({ data: run }));
  const failure = await failureOfCommand('runs', 'confirm', 'run-1');
  expect(failure.code).toBe(exit.notNow);
  expect(failure.text).toContain('No actions are available now');
  expect(requests.filter((request) => !request.startsWith('GET'))).toEqual([]);
});
