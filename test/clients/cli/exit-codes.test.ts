import { PassThrough, Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { parse } from '#clients/cli/arguments.ts';
import { findCommand } from '#clients/cli/commands.ts';
import { exitMeanings } from '#clients/cli/exit.ts';
import { failureOf } from '#clients/cli/failures.ts';
import { adviceOn, endOf, exitCodeOf, waitsForOthers, waitsForPerson } from '#clients/cli/outcome.ts';
import { Session } from '#clients/cli/session.ts';
import { ApiError } from '#clients/client/client.ts';

/** Behavior that scripts rely on: exit codes by their numbers, the request of each decision, and `--json`. */

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});

type Facts = { status: string; actions?: object; permissions?: object };
const runOf = ({ status, actions = {}, permissions = {} }: Facts) =>
  ({
    id: 'run-1',
    type: 'runs',
    attributes: {
      status,
      actions,
      permissions,
      message: 'm',
      'created-at': '2026-01-01T00:00:00Z',
      'status-timestamps': {},
    },
    relationships: {},
  }) as never;

it('the numbers of exit codes are stable', () => {
  expect(exitMeanings.map(([code]) => code)).toEqual([0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15, 124, 130]);
});

it.each([
  ['applied', false, 0],
  ['planned_and_finished', false, 0],
  ['errored', false, 10],
  ['errored', true, 11],
  ['policy_soft_failed', false, 11],
  ['discarded', false, 12],
  ['canceled', false, 13],
  ['planned', false, 14],
  ['policy_override', false, 14],
  ['planned_and_saved', false, 14],
])('a watched run that is %s (policies failed: %s) ends with %i', (status, policyFailed, code) => {
  expect(exitCodeOf({ run: runOf({ status }), policyFailed })).toBe(code);
  expect(endOf({ run: runOf({ status }), policyFailed } as never)).toMatchObject({ status, 'exit-code': code });
});

it.each([
  [400, 5],
  [401, 3],
  [403, 3],
  [404, 4],
  [409, 5],
  [412, 1],
  [422, 5],
  [429, 1],
  [500, 1],
])('a response with %i ends with %i', (status, code) => {
  expect(failureOf(new ApiError('GET', '/x', status, ''))).toMatchObject({ code });
});

it('a response is shown with its own errors, otherwise with its status', () => {
  const body = JSON.stringify({ errors: [{ status: '422', title: 'invalid', detail: 'name is taken' }] });
  expect(failureOf(new ApiError('GET', '/x', 422, body)).errors).toMatchObject([{ detail: 'name is taken' }]);
  expect(failureOf(new ApiError('GET', '/x', 500, '')).errors[0]?.title).toContain('500');
});

it('a missing file is a usage error', () => {
  const error = Object.assign(new Error('no such file'), { code: 'ENOENT', path: 'a.tfstate' });
  expect(failureOf(error)).toEqual({ code: 2, errors: [{ title: 'File not found: a.tfstate' }] });
  expect(failureOf({ ...error, code: 'EACCES' }).code, 'another error of a file').toBe(1);
  expect(failureOf(new Error('why')).errors[0]?.title, 'an unexpected error').toMatch(/why\n +at /);
});

it('a run waits for a decision while it is confirmable or has a failed policy to override', () => {
  const run = (can: boolean, confirmable = true) =>
    runOf({
      status: 'planned',
      actions: { 'is-confirmable': confirmable },
      permissions: { 'can-apply': can, 'can-override-policy-check': can },
    });
  expect(waitsForPerson({ run: run(true) } as never)).toBe(true);
  expect(waitsForPerson({ run: run(true, false) } as never)).toBe(false);
  expect(waitsForPerson({ run: run(true, false), override: '/x' } as never)).toBe(true);
  expect(waitsForOthers({ run: run(true) } as never)).toBeUndefined();
  expect(waitsForOthers({ run: run(true), override: '/x' } as never)).toBeUndefined();
  expect(waitsForOthers({ run: run(false, false) } as never)).toBeUndefined();
  expect(waitsForOthers({ run: run(false) } as never)).toContain('apply permission');
  expect(waitsForOthers({ run: run(false), override: '/x' } as never)).toContain('override policies');
});

it('the advice on a run that waits for others begins with what it waits for', async () => {
  const run = runOf({ status: 'planned', actions: { 'is-confirmable': true, 'is-discardable': true } });
  const lines = await adviceOn(undefined as never, { run } as never);
  expect(lines[0]).toBe('Waiting for confirmation by someone with apply permission.');
});

const permissions = { 'can-discard': true, 'can-cancel': true };

/**
 * Runs a command against an API that has one run.
 * @param status of the run after a decision, or the response to it, or further documents by path
 * @returns its requests and what it printed
 */
const perform = async (status: string | Response | Record<string, unknown>, ...args: string[]) => {
  const requests: string[] = [];
  let current = 'planned';
  vi.stubGlobal('fetch', async (url: string, { method = 'GET', body, headers }: RequestInit) => {
    expect(new Headers(headers).get('user-agent')).toMatch(/^stepform\/\d/);
    const { pathname } = new URL(url);
    const actions = { 'is-discardable': true, 'is-cancelable': true };
    const other = typeof status === 'string' || status instanceof Response ? undefined : status[pathname];
    if (other) return other instanceof Response ? other : Response.json({ data: other });
    if (method === 'GET') return Response.json({ data: runOf({ status: current, actions, permissions }) });
    requests.push(`${method} ${pathname} ${body ?? ''}`);
    if (status instanceof Response) return status;
    if (typeof status === 'string') current = status;
    return new Response('', { status: 202 });
  });
  vi.stubEnv('TFE_ADDRESS', 'https://tfe.example');
  vi.stubEnv('TFE_TOKEN', 'of-env');
  let printed = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += text;
    return true;
  });
  const match = findCommand(args);
  if (!match) throw new Error(`no command: ${args.join(' ')}`);
  const call = parse(match.command, match.rest);
  const code = await match.command.run(call, new Session(call));
  return { requests, printed, code };
};

it.each([
  ['confirm', 'apply', 'confirmed', 'Run confirmed.'],
  ['discard', 'discard', 'discarded', 'Run discarded.'],
  ['cancel', 'cancel', 'canceled', 'Cancel requested.'],
  ['force-cancel', 'force-cancel', 'canceled', 'Run killed.'],
])('runs %s requests %s with the comment, once', async (command, action, status, done) => {
  const { requests, printed, code } = await perform(status, 'runs', command, 'run-1', '-m', 'why');
  expect(requests).toEqual([`POST /api/v2/runs/run-1/actions/${action} {"comment":"why"}`]);
  expect(printed.startsWith(done)).toBe(true);
  expect(printed.includes('runs watch run-1')).toBe(status === 'confirmed');
  expect(code ?? 0).toBe(0);
});

it('a decision that comes too late names the status and the available actions', async () => {
  const refusal = Response.json({ errors: [] }, { status: 409 });
  await expect(perform(refusal, 'runs', 'confirm', 'run-1')).rejects.toMatchObject({
    exitCode: 5,
    message: expect.stringMatching(/^Run run-1 has status .*\. Available actions: \w+, \w+\.$/),
  });
});

it('runs confirm --json prints only the run after the decision', async () => {
  const { printed } = await perform('confirmed', 'runs', 'confirm', 'run-1', '--json');
  expect(JSON.parse(printed)).toMatchObject({ data: { id: 'run-1', attributes: { status: 'confirmed' } } });
});

it('an argument that is no run is a usage error, and a workspace without runs has none to show', async () => {
  const inWorkspace = perform('planned', 'runs', 'show', '-w', 'net', '--organization', 'acme');
  await expect(inWorkspace).rejects.toMatchObject({ exitCode: 4, message: /^No runs yet in workspace/ });
  await expect(perform('planned', 'runs', 'show', 'mine')).rejects.toMatchObject({
    exitCode: 2,
    message: /"mine" is not/,
  });
});

it('runs show takes the URL of a run, and without one shows the current run of the workspace', async () => {
  for (const named of ['run-1', 'https://tfe.example/app/acme/workspaces/net/runs/run-1'])
    expect((await perform('planned', 'runs', 'show', named, '--json')).printed).toContain('run-1');
  const current = { 'current-run': { data: { type: 'runs', id: 'run-1' } } };
  const workspace = { id: 'ws-1', type: 'workspaces', attributes: { name: 'net' }, relationships: current };
  const { printed } = await perform(
    { '/api/v2/organizations/acme/workspaces/net': workspace },
    ...['runs', 'show', '-w', 'net', '-o', 'acme', '--json'],
  );
  expect(printed).toContain('run-1');
});

it('runs discard and force-cancel end a run, so that --watch is refused', () => {
  for (const verb of ['discard', 'force-cancel']) {
    const match = findCommand(['runs', verb, 'run-1', '--watch']);
    expect(() => match && parse(match.command, match.rest), verb).toThrow('--watch');
  }
});

it('a workspace that cannot be read for another reason than its absence is no missing one', async () => {
  const failing = { '/api/v2/organizations/acme/workspaces/net': new Response('', { status: 500 }) };
  await expect(perform(failing, 'runs', 'show', '-w', 'net', '-o', 'acme')).rejects.toMatchObject({ status: 500 });
});

describe('a decision in a terminal', () => {
  const current = { 'current-run': { data: { type: 'runs', id: 'run-1' } } };
  const workspace = { id: 'ws-1', type: 'workspaces', attributes: { name: 'net' }, relationships: current };
  const documents = { '/api/v2/organizations/acme/workspaces/net': workspace };

  /** A terminal in which a user types the answers, each once its question is on screen. */
  const typing = (...answers: string[]) => {
    const raw: boolean[] = [];
    const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (on: boolean) => raw.push(on) });
    vi.spyOn(process, 'stdin', 'get').mockReturnValue(input as never);
    let asked = '';
    const output = Object.assign(
      new Writable({
        write: (chunk, _, done) => {
          asked += chunk;
          const isQuestion = /continue: |\n> /.test(String(chunk));
          const answer = isQuestion ? answers.shift() : undefined;
          if (answer !== undefined) setImmediate(() => input.write(`${answer}\r`));
          done();
        },
      }),
      { isTTY: true },
    );
    vi.spyOn(process, 'stderr', 'get').mockReturnValue(output as never);
    return { asked: () => stripVTControlCharacters(asked), input, raw };
  };

  it('without a run asks about the current one, and acts after "yes" only', async () => {
    const { asked, input, raw } = typing('yes');
    const { requests, printed } = await perform(documents, 'runs', 'confirm', '-w', 'net', '-o', 'acme');
    expect(asked()).toContain('Confirm this run? Type "yes" to continue: ');
    expect(requests).toEqual(['POST /api/v2/runs/run-1/actions/apply {}']);
    expect(printed).toMatch(/run-1[\s\S]*Run confirmed/);
    expect([raw[0], raw.at(-1)], 'keys are not echoed while they are discarded').toEqual([true, false]);
    expect(input.listenerCount('end'), 'listeners of the question').toBe(0);
    typing('y');
    await expect(perform(documents, 'runs', 'discard', '-w', 'net', '-o', 'acme')).rejects.toMatchObject({
      exitCode: 130,
      message: 'No action taken: the answer is not "yes".',
    });
  });

  it('asks again in a watch after any word but those that it names', async () => {
    const run = runOf({
      status: 'planned',
      actions: { 'is-confirmable': true, 'is-discardable': true },
      permissions: { 'can-apply': true, 'can-discard': true },
    }) as { attributes: object };
    const attributes = { ...run.attributes, 'finishing-resources': [], 'failed-checks': [] };
    const { asked } = typing('maybe', '');
    const watched = await perform({ '/api/v2/runs/run-1': { ...run, attributes } }, 'runs', 'watch', 'run-1');
    expect(asked()).toMatch(/Apply these changes\?.*Type "yes" or "discard", or press Enter/s);
    expect([watched.code, watched.requests]).toEqual([14, []]);
  });

  it.each([
    ['typed before the question is no answer', 'yes\r', 'no', 'No action taken: the answer is not "yes".'],
    ['Ctrl-C before the question ends the command', '\x03', 'yes', ''],
    ['Ctrl-C at the question ends the command', '', '\x03', ''],
  ])('%s', async (_, before, answer, message) => {
    const { input } = typing(answer);
    input.write(before);
    const confirming = perform(documents, 'runs', 'confirm', '-w', 'net', '-o', 'acme');
    await expect(confirming).rejects.toMatchObject({ exitCode: 130, message });
  });
});

it('runs confirm without a run and without a terminal is a usage error that names the command', async () => {
  await expect(perform('confirmed', 'runs', 'confirm')).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining('stepform runs confirm <run>'),
  });
});
