import { afterEach, expect, it, vi } from 'vitest';
import { parse } from '#clients/cli/arguments.ts';
import { findCommand } from '#clients/cli/commands.ts';
import { exitMeanings } from '#clients/cli/exit.ts';
import { failureOf } from '#clients/cli/failures.ts';
import { endOf, exitCodeOf, waitsForOthers, waitsForPerson } from '#clients/cli/outcome.ts';
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
    attributes: { status, actions, permissions, message: 'm', 'status-timestamps': {} },
    relationships: {},
  }) as never;

it('the numbers of exit codes are stable', () => {
  expect(exitMeanings.map(([code]) => code)).toEqual([0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15, 130]);
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
  [400, 1],
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

it('a missing file is a usage error', () => {
  const error = Object.assign(new Error('no such file'), { code: 'ENOENT', path: 'a.tfstate' });
  expect(failureOf(error)).toEqual({ code: 2, errors: [{ title: 'File not found: a.tfstate' }] });
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

/** Runs a command against an API that has one run. @returns its requests and what it printed */
const perform = async (status: string, ...args: string[]) => {
  const requests: string[] = [];
  let current = 'planned';
  vi.stubGlobal('fetch', async (url: string, { method = 'GET', body }: RequestInit) => {
    const { pathname } = new URL(url);
    if (method === 'GET') return Response.json({ data: runOf({ status: current }) });
    requests.push(`${method} ${pathname} ${body ?? ''}`);
    current = status;
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

it('runs confirm --json prints only the run after the decision', async () => {
  const { printed } = await perform('confirmed', 'runs', 'confirm', 'run-1', '--json');
  expect(JSON.parse(printed)).toMatchObject({ data: { id: 'run-1', attributes: { status: 'confirmed' } } });
});

it('runs confirm without a run and without a terminal is a usage error that names the command', async () => {
  await expect(perform('confirmed', 'runs', 'confirm')).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining('stepform runs confirm <run>'),
  });
});
