import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, expect, it } from 'vitest';
import { exit } from '#clients/cli/exit.ts';
import { exitCodeOf } from '#clients/cli/outcome.ts';
import { type WatchEvent, watchRun } from '#clients/cli/watch.ts';
import { Client } from '#clients/client/client.ts';

/** An API with a run that fails a policy, is overridden and applied; it is unreachable for a moment. */

const stamps: [status: string, stamp: string][] = [
  ['pending', 'plan-queueable-at'],
  ['planning', 'planning-at'],
  ['policy_checking', 'planned-at'],
  ['policy_override', 'policy-checking-at'],
  ['policy_checked', 'policy-checked-at'],
  ['applying', 'applying-at'],
  ['applied', 'applied-at'],
];

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
        status: this.at < 4 ? 'soft_failed' : 'overridden',
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
    return { data, included: [phase('plans', 'plan', begun(1, 2)), phase('applies', 'apply', begun(5, 6))] };
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
      return `policies ${event.status} ${event.policies.map(({ name, messages }) => `${name}: ${messages}`)}`;
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
    'policies soft_failed few: too many',
    'policies overridden few: too many',
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
