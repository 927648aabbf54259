import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, expect, it, vi } from 'vitest';
import { exit } from '#clients/cli/exit.ts';
import { type FollowOptions, followRun } from '#clients/cli/follow-run.ts';
import { exitCodeOf } from '#clients/cli/outcome.ts';
import { type WatchEvent, type Watching, watchRun } from '#clients/cli/watch.ts';
import { Client } from '#clients/client/client.ts';

/** An API with a run that fails a policy, is overridden and applied; it is unreachable for a moment. */

const stamps: [status: string, stamp: string][] = [
  ['pending', 'plan-queueable-at'],
  ['planning', 'planning-at'],
  ['post_plan_running', 'planned-at'],
  ['cost_estimating', 'post-plan-running-at'],
  ['policy_checking', 'cost-estimating-at'],
  ['policy_override', 'policy-checking-at'],
  ['policy_checked', 'policy-checked-at'],
  ['applying', 'applying-at'],
  ['applied', 'applied-at'],
];

const tasks = ['scan', 'lint'].map((name) => ({
  type: 'task-results',
  attributes: { stage: 'post_plan', 'task-name': name, status: 'passed' },
}));

// Pauses between looks at a run last an eighth.
const { setTimeout: wait } = globalThis;
vi.stubGlobal('setTimeout', (end: () => void, ms = 0) => wait(end, ms / 8));

class Platform {
  readonly server: Server;
  /** Index of the current status. */
  at = 0;
  looks = 0;
  away = false;

  constructor() {
    this.server = createServer((request, response) => {
      const { status, body } = this.#answer(request.url ?? '');
      response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  #answer(path: string): { status: number; body: unknown } {
    if (path.startsWith('/logs')) return { status: 200, body: this.#log(path) };
    if (this.away) {
      this.away = false;
      return { status: 503, body: {} };
    }
    if (path.endsWith('/plans/plan/json-output-redacted')) {
      const change = { actions: ['create'], before: null, after: { name: 'x' } };
      return { status: 200, body: { resource_changes: [{ address: 'a.b', change }] } };
    }
    if (path.includes('/policy-checks/')) return { status: 200, body: { data: this.#check() } };
    if (path.includes('/policy-set-outcomes')) return { status: 200, body: { data: [] } };
    if (path.includes('/policy-evaluations/'))
      return { status: 200, body: { data: { attributes: { status: 'overridden' } } } };
    if (path.includes('/task-stages')) return { status: 200, body: { data: [], included: tasks } };
    // Each request advances it, except while it waits for a decision; one request gets no response.
    if (this.looks++ > 0 && stamps[this.at]?.[0] !== 'policy_override')
      this.at = Math.min(this.at + 1, stamps.length - 1);
    this.away = this.looks === 2;
    return { status: 200, body: this.#run() };
  }

  #log(path: string): string {
    const [message, type] = path.includes('plan') ? ['planned', 'planned_change'] : ['made', 'apply_complete'];
    const text = `\x02${JSON.stringify({ '@message': message, '@level': 'info', type })}\n\x03`;
    const from = Number(new URL(path, 'http://x').searchParams.get('offset'));
    // A line can arrive in parts.
    return text.slice(from, from + 40);
  }

  #check() {
    const policy = {
      policy_name: 'few',
      enforcement_level: 'soft-mandatory',
      status: 'failed',
      output: [{ msg: 'too many' }],
    };
    return {
      id: 'polchk-1',
      attributes: {
        status: this.at < 6 ? 'soft_failed' : 'overridden',
        result: { sentinel: { 'policy-sets': [{ outcomes: [policy], error: null }] } },
      },
    };
  }

  #run() {
    const status = stamps[this.at]?.[0];
    const timestamps = stamps.slice(0, this.at + 1).map(([, key], i) => [key, new Date(1000 * i).toISOString()]);
    const begun = (from: number, to: number) => (this.at < from ? 'pending' : this.at < to ? 'running' : 'finished');
    const phase = (type: string, name: string, state: string) => ({
      id: name,
      type,
      attributes: {
        status: state,
        'log-read-url': `${this.url}/logs/${name}`,
        'resource-additions': state === 'finished' ? 1 : null,
        'resource-imports': 2,
      },
    });
    const data = {
      id: 'run-1',
      type: 'runs',
      attributes: {
        status,
        message: 'm',
        'status-timestamps': Object.fromEntries(timestamps),
        actions: { 'is-confirmable': false },
        'auto-apply': true,
        'plan-only': false,
      },
      relationships: { 'policy-checks': { data: [{ id: 'polchk-1', type: 'policy-checks' }] } },
    };
    const estimate = { type: 'cost-estimates', attributes: { status: begun(3, 4) } };
    const evaluations = { 'policy-evaluations': { data: [{ id: 'poleval-1', type: 'policy-evaluations' }] } };
    const stage = { type: 'task-stages', attributes: { actions: {} }, relationships: evaluations };
    const phases = [phase('plans', 'plan', begun(1, 2)), phase('applies', 'apply', begun(7, 8))];
    return { data, included: [...phases, estimate, stage] };
  }
}

const platform = new Platform();
afterEach(() => platform.server.close());

const brief = (event: WatchEvent): string => {
  switch (event.event) {
    case 'stage':
      return `stage ${event.stage} ${event.state} ${event.seconds} ${Object.values(event.changes ?? {})}`.trim();
    case 'log':
      return `log ${event.phase} ${event.line}`;
    case 'policies':
      return `${event.kind} ${event.status} ${event.policies.map(({ name, messages }) => `${name}: ${messages}`)}`.trim();
    case 'task-result':
      return `task ${event.task} ${event.status}`;
    case 'status':
      return `status ${event.name}`;
    default:
      return event.event;
  }
};

it("a watch prints each stage's output, then its result; asks once; and waits while the platform is unreachable", async () => {
  await new Promise<void>((resolve) => platform.server.listen(0, '127.0.0.1', resolve));
  const told: string[] = [];
  const overrides: (string | undefined)[] = [];
  const snapshot = await watchRun(new Client(platform.url, 'token'), 'run-1', {
    emit: (event) => told.push(stripVTControlCharacters(brief(event))),
    decide: async ({ override, policyFailed }) => {
      overrides.push(override);
      expect(policyFailed).toBe(true);
      platform.at++;
      return 'stay';
    },
  });
  expect(overrides).toEqual(['/policy-checks/polchk-1/actions/override']);
  expect(told.filter((one) => !one.startsWith('status'))).toEqual([
    'run',
    'stage Pending done 1',
    'log plan planned',
    // JSON lines contain no changes: these come from the plan.
    'log plan ',
    'log plan   # a.b will be created',
    'log plan   +   a.b',
    'log plan       + name = "x"',
    'stage Plan done 1 1,0,0,2',
    'task scan passed',
    'task lint passed',
    'policy-evaluation overridden',
    'stage Post-plan done 1',
    'cost-estimate',
    'stage Cost estimate done 1',
    'policy-check soft_failed few: too many',
    'policy-check overridden few: too many',
    'stage Policy check done 2',
    'log apply made',
    'stage Apply done 1 1,0,0,2',
  ]);
  expect(told.filter((one) => one.startsWith('status')).at(-1)).toBe('status Applied');
  expect(snapshot.policyFailed).toBe(false);
  expect(exitCodeOf(snapshot)).toBe(exit.done);
});

it('a watch reports after a minute that the run waits for a runner', async () => {
  const at = new Date(Date.now() - 61_000).toISOString();
  let looks = 0;
  const server = createServer((_, response) => {
    const isOver = looks++ > 0;
    const attributes = {
      status: isOver ? 'errored' : 'plan_queued',
      message: 'm',
      'status-timestamps': { 'plan-queued-at': at },
      actions: { 'is-confirmable': false },
      'finishing-resources': [],
    };
    const plan = { id: 'plan', type: 'plans', attributes: { status: isOver ? 'errored' : 'queued' } };
    response.end(JSON.stringify({ data: { id: 'run-1', type: 'runs', attributes }, included: [plan] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const waits: string[] = [];
  await watchRun(new Client(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'token'), 'run-1', {
    emit: (event) => event.event === 'waits' && waits.push(event.reason),
    decide: async () => 'stay',
    withLogs: false,
  });
  server.close();
  expect(waits).toEqual([expect.stringMatching(/^for a runner, 1 min \d s$/)]);
});

/** Watches a run whose documents are these, one after the other; the last one stays. @returns the events, in short */
const watching = async (states: object[], options: Partial<Watching> = {}) => {
  let look = 0;
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/logs')) return response.end('\x02a line\n\x03');
    if (request.url?.includes('/task-stages')) return response.end(JSON.stringify({ data: [], included: results }));
    response.end(JSON.stringify(states[Math.min(look++, states.length - 1)]));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const events: string[] = [];
  try {
    await watchRun(new Client(base, 'token'), 'run-1', {
      emit: (event) => {
        if (event.event === 'waits') events.push(`waits ${event.reason}`);
        else if (event.event !== 'status' && event.event !== 'run') events.push(stripVTControlCharacters(brief(event)));
      },
      decide: async () => 'stay',
      ...options,
    });
  } finally {
    server.close();
    server.closeAllConnections();
  }
  return events;
};
let base = '';
const results = ['pre_plan', 'post_plan'].map((stage) => ({
  type: 'task-results',
  attributes: { stage, 'task-name': stage, status: 'passed' },
}));

const state = (status: string, phases: object[] = [], attributes: object = {}, stamps: string[] = []) => ({
  data: {
    id: 'run-1',
    type: 'runs',
    attributes: {
      status,
      message: 'm',
      'status-timestamps': Object.fromEntries(stamps.map((stamp, n) => [stamp, new Date(1000 * n).toISOString()])),
      actions: { 'is-confirmable': false },
      'finishing-resources': [],
      'auto-apply': true,
      'plan-only': false,
      ...attributes,
    },
    relationships: {},
  },
  get included() {
    return phases.map((phase) => {
      const { type, status: own } = phase as { type: string; status: string };
      return { id: type, type, attributes: { 'log-read-url': `${base}/logs/${type}`, ...phase, status: own } };
    });
  },
});
const [plan, apply] = [
  (status: string) => ({ type: 'plans', status }),
  (status: string) => ({ type: 'applies', status }),
];
const upTo = (...stamps: string[]) => ['plan-queueable-at', 'planning-at', ...stamps];

it('a watch of new output leaves out the output of a phase that has ended before, and no other', async () => {
  const planned = state('planned', [plan('finished'), apply('pending')], {}, upTo('planned-at'));
  const done = state(
    'applied',
    [plan('finished'), apply('finished')],
    {},
    upTo('planned-at', 'applying-at', 'applied-at'),
  );
  const lines = async (onlyNew: boolean) =>
    (await watching([planned, done], { onlyNew })).filter((event) => event.startsWith('log'));
  expect(await lines(true)).toEqual(['log apply a line']);
  expect(await lines(false)).toEqual(['log plan a line', 'log apply a line']);
});

it('a watch asks once for each decision, and ends if the user leaves', async () => {
  const asks = { actions: { 'is-confirmable': true } };
  const confirmable = state('planned', [plan('finished')], asks, upTo('planned-at'));
  const answers: ('stay' | 'leave')[] = [];
  const decide = (answer: 'stay' | 'leave') => async () => {
    answers.push(answer);
    return answer;
  };
  await watching([confirmable, confirmable, state('applied')], { decide: decide('stay') });
  await watching([confirmable], { decide: decide('leave') });
  expect(answers).toEqual(['stay', 'leave']);
});

it('a watch ends when it is aborted', async () => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 100);
  await watching([state('planning', [plan('running')], {}, upTo())], { signal: controller.signal, withLogs: false });
  expect(controller.signal.aborted).toBe(true);
});

it('a watch names what a run waits for, once, and only if it lasts', async () => {
  const details = { 'agent-pool-id': 'apool-1', 'agent-pool-name': 'office' };
  const queued = state('plan_queued', [{ ...plan('agent_queued'), 'execution-details': details }]);
  const long = Array(5).fill(queued);
  expect(await watching([...long, state('errored')])).toEqual(['waits for an agent in pool office']);
  expect(await watching([queued, state('errored')]), 'a short wait').toEqual([]);
  const waitsFor = async () => ({ reason: 'behind run-2', forPerson: false });
  const pending = Array(5).fill(state('pending'));
  expect(await watching([...pending, state('errored')], { waitsFor })).toEqual(['waits behind run-2']);
  expect(await watching([state('pending'), state('errored')], { waitsFor }), 'a short wait').toEqual([]);
});

it('a watch shows the results of run tasks with their stage', async () => {
  const stages = { 'task-stages': { data: [] } };
  const over = state('errored', [{ type: 'task-stages', status: 'passed' }, plan('errored')], stages, [
    ...['plan-queueable-at', 'pre-plan-running-at', 'pre-plan-completed-at', 'planning-at', 'errored-at'],
  ]);
  const events = await watching([over], { withLogs: false });
  expect(events.filter((event) => event.startsWith('task'))).toEqual(['task pre_plan passed']);
});

/** A run behind another one, or behind a user's lock. */
const pendingBehind = async (holder: string, front: object): Promise<Client> => {
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const answer = (data: object, included: object[] = []) => response.end(JSON.stringify({ data, included }));
    const lock = { data: { id: holder, type: holder.startsWith('run') ? 'runs' : 'users' } };
    if (path.includes('/workspaces/'))
      return answer({
        id: 'ws-1',
        type: 'workspaces',
        attributes: { locked: true, 'locked-reason': 'migration', name: 'w' },
        relationships: { 'locked-by': lock },
      });
    const common = { message: 'm', 'status-timestamps': {}, 'finishing-resources': [], permissions: {} };
    const attributes = path.includes('/run-ahead')
      ? { ...common, actions: { 'is-confirmable': false }, ...front }
      : { ...common, status: 'pending', actions: { 'is-confirmable': false } };
    const relationships = { workspace: { data: { id: 'ws-1', type: 'workspaces' } } };
    return answer({ id: path.includes('/run-ahead') ? 'run-ahead' : 'run-1', type: 'runs', attributes, relationships });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  servers.push(server);
  return new Client(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'token');
};
const servers: Server[] = [];
afterEach(() => vi.restoreAllMocks());
afterEach(() => servers.splice(0).forEach((server) => void server.close()));

const follow = (client: Client, options: Partial<FollowOptions> = {}) =>
  followRun(client, 'run-1', { json: true, wait: false, started: true, ...options });

it.each([
  ['run-ahead', { status: 'planned', actions: { 'is-confirmable': true } }, /run-ahead/],
  ['run-ahead', { status: 'policy_override' }, /run-ahead/],
  ['user-1', {}, /to be unlocked \(migration\)/],
])('without a terminal, a watch ends with 14 behind %s %j', async (holder, front, reason) => {
  const written: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(String(text)) > 0);
  expect(await follow(await pendingBehind(holder, front))).toBe(exit.needsPerson);
  expect(written.map((line) => JSON.parse(line)).find(({ event }) => event === 'waits').reason).toMatch(reason);
});

it('a watch continues behind a run that continues by itself, or with --wait, until --timeout', async () => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const planning = await pendingBehind('run-ahead', { status: 'planning' });
  expect(await follow(planning, { timeoutMs: 1_200 })).toBe(exit.timedOut);
  const confirmable = { status: 'planned', actions: { 'is-confirmable': true } };
  expect(await follow(await pendingBehind('run-ahead', confirmable), { wait: true, timeoutMs: 1_200 })).toBe(
    exit.timedOut,
  );
});
