import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { type Answer, type Living, type Platform, startPlatform } from './platform.ts';
import { Random } from './random.ts';
import { eventFor, outsideTargets, requestFor, type Target, targetsOf } from './requests.ts';
import { learn, probeBody, type Shape } from './shapes.ts';
import { type Watch, watchTable } from './watch.ts';

/**
 * Sends random requests and reports responses that are always wrong: internal errors, rejections without a reason,
 * changes left by rejected requests, and slow requests. The same seed sends the same requests.
 */

export interface Finding {
  /** Number of the request in its run, with which it can be repeated. */
  n: number;
  request: string;
  what: string;
  detail: string;
}

export interface Options {
  seed: number;
  requests: number;
  /** Stops after this many milliseconds. */
  withinMs?: number;
  /** Processor time of one request in milliseconds, including the table's. */
  mostMs?: number;
  progress?: (n: number, findings: number) => void;
}

export interface Report {
  asked: number;
  statuses: Record<number, number>;
  /** Targets that never accepted a request: that much was not tested. */
  neverDone: string[];
  findings: Finding[];
}

/** Requests until the world is created again: some of them delete, lock and rename. */
const worldLasts = 300;

const nameOf = ({ method, path }: Target): string => `${method} ${path}`;

/** Routes whose body names the affected resources. */
const ofIdentifier: Record<string, string> = { workspace: 'workspace', project: 'project', team: 'team', task: 'task' };

const readsBody = ({ method, path }: Target): boolean =>
  method === 'DELETE' ? /\/relationships\/|\/team-tokens$/.test(path) : !/^(GET|HEAD|OPTIONS)$/.test(method);

const learnShapes = async (platform: Platform, living: Living): Promise<Map<string, Shape>> => {
  const shapes = new Map<string, Shape>();
  const reading = [...platform.routes, ...outsideTargets].filter(readsBody);
  // Requests that end resources come last, because a deleted resource tests nothing.
  const ends = ({ path }: Target) => (path.includes('/actions/') ? 1 : 0);
  const idAt = (path: string[]): string | undefined => living.world[ofIdentifier[path.at(-2) ?? ''] ?? ''];
  for (const target of reading.sort((a, b) => ends(a) - ends(b))) {
    const shape = await learn(async () => {
      const event = requestFor({ ...target, shape: undefined }, new Random(1), living);
      const path = event.requestContext.http.path;
      const token = path.startsWith('/runner') ? 'apply' : path.startsWith('/agent') ? 'agent' : 'owner';
      const headers = { host: 'api.example.test', authorization: `Bearer ${living.tokens[token]}` };
      const query = path.endsWith('/log') ? 'offset=0' : '';
      return (await platform.send(eventFor({ method: target.method, path, query, headers, body: probeBody }))).body;
    }, idAt);
    if (shape.parts.size > 0) shapes.set(nameOf(target), shape);
  }
  return shapes;
};

interface ErrorObject {
  status?: unknown;
  title?: unknown;
  detail?: unknown;
  source?: { pointer?: unknown; parameter?: unknown };
}

/** Missing parts of an error response (JSON:API: error objects). */
export const lackOf = (status: number, body: string | undefined): string | undefined => {
  let errors: ErrorObject[] | undefined;
  try {
    errors = (JSON.parse(body ?? '') as { errors?: ErrorObject[] }).errors;
  } catch {
    return 'is no document';
  }
  if (!Array.isArray(errors) || errors.length === 0) return 'has no errors';
  for (const { status: text, title, detail, source } of errors) {
    if (text !== String(status)) return 'has another status in its errors';
    if (typeof title !== 'string' || title === '') return 'has no title';
    if (typeof detail !== 'string' || detail === '') return 'has no detail';
    const place = source?.pointer ?? source?.parameter;
    if (status === 422 && (typeof place !== 'string' || place === '')) return 'does not name the field';
  }
  return undefined;
};

/** Functions that respond in the API's own format. */
const ofApi = [
  'Api',
  'Runs',
  'States',
  'Access',
  'Organizations',
  'Saml',
  'SignIn',
  'Workspaces',
  'Settings',
  'Governance',
  'Policies',
  'Registry',
  'Modules',
  'TestRuns',
];
/** Responses of forms and pages are for people; OAuth has its own errors (RFC 6749). */
const inApiForm = (target: string, path: string): boolean => ofApi.includes(target) && !/^\/(oauth|users)\//.test(path);

/** 503 responses that clients retry a moment later, because the resource is still being prepared. */
const notYet: Record<string, string> = {
  'GET /api/v2/plans/{plan}/json-output-redacted': 'terraform repeats a 503, and fails on a 204',
  'GET /api/v2/runs/{run}/plan/json-output-redacted': 'terraform repeats a 503, and fails on a 204',
  'GET /api/v2/cost-estimates/{estimate}/output': 'text that is not written yet',
  'GET /api/v2/workspaces/{workspace}/current-state-version-outputs': 'terraform looks for "service unavailable"',
  'GET /api/v2/state-versions/{version}/outputs': 'terraform looks for "service unavailable"',
};

/** Items that a rejected request may write, because they record it. */
const leftBehind: [target: RegExp, item: RegExp, why: string][] = [
  [/notification-configurations/, /^NC#/, 'the answer of the destination that could not be verified is kept'],
];

class Fuzzer {
  readonly findings: Finding[] = [];
  readonly statuses: Record<number, number> = {};
  readonly done = new Set<string>();
  readonly #platform: Platform;
  readonly #watch: Watch;
  readonly #mostMs: number;
  #logged: string[] = [];

  constructor(platform: Platform, watch: Watch, mostMs: number) {
    this.#platform = platform;
    this.#watch = watch;
    this.#mostMs = mostMs;
  }

  note(...parts: unknown[]): void {
    const text = parts.map((one) => (one instanceof Error ? (one.stack ?? one.message) : String(one))).join(' ');
    this.#logged.push(text.slice(0, 1500));
  }

  async ask(n: number, target: Target, event: APIGatewayProxyEventV2): Promise<void> {
    const { method, path } = event.requestContext.http;
    const report = (what: string, detail: string) => {
      const body = event.isBase64Encoded ? Buffer.from(event.body ?? '', 'base64').toString() : event.body;
      const request = `${method} ${path}?${event.rawQueryString} ${body?.slice(0, 600) ?? ''}`;
      this.findings.push({ n, request: `${nameOf(target)}\n    ${request}`, what, detail });
    };
    this.#logged = [];
    this.#watch.begin();
    const before = process.cpuUsage();
    let answer: Answer;
    try {
      answer = await this.#platform.send(event);
    } catch (error) {
      report('threw', (error as Error).stack ?? String(error));
      return;
    }
    const { user, system } = process.cpuUsage(before);
    const status = answer.statusCode ?? 200;
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
    if (status < 400) this.done.add(nameOf(target));
    const ms = (user + system) / 1000;
    if (ms > this.#mostMs) report(`took over ${this.#mostMs} ms`, `${Math.round(ms)} ms, answered ${status}`);
    const awaited = status === 503 && nameOf(target) in notYet;
    if (status >= 500 && !awaited) report(`answered ${status}`, this.#logged.join('\n') || (answer.body ?? ''));
    else if (this.#logged.length > 0) report('logged a failure', this.#logged.join('\n'));
    if (status < 400 || status >= 500) return;
    const lack = inApiForm(this.#platform.functionOf(method, event.rawPath), path) ? lackOf(status, answer.body) : '';
    if (lack) report(`answered ${status}, which ${lack}`, answer.body ?? '');
    const isRecord = (key: string) => leftBehind.some(([on, item]) => on.test(target.path) && item.test(key));
    const changed = (await this.#watch.changed()).filter((key) => !isRecord(key));
    if (changed.length > 0) report(`answered ${status} and changed something`, `${changed.join(', ')}\n${answer.body}`);
  }
}

/** On a busy machine, too. */
const least = 150;

/** Sends up to `requests` requests; the platform serves this process only. */
export const fuzz = async ({ seed, requests, withinMs, mostMs = 500, progress }: Options): Promise<Report> => {
  const platform = await startPlatform();
  const watch = watchTable();
  const fuzzer = new Fuzzer(platform, watch, mostMs);
  const { error, warn } = console;
  console.error = (...parts) => fuzzer.note(...parts);
  console.warn = () => {};
  let count = 0;
  try {
    let living = await platform.live();
    const shapes = await learnShapes(platform, living);
    const targets = targetsOf(platform.routes, shapes);
    // Counted from the first request: a busy machine takes long to create the world.
    const end = withinMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + withinMs;
    for (; count < requests && (performance.now() < end || count < least); count++) {
      if (count % worldLasts === 0) living = await platform.live();
      const random = new Random(seed, count);
      const target = targets.of(random);
      await fuzzer.ask(count, target, requestFor(target, random, living));
      if (count % 1000 === 999) progress?.(count + 1, fuzzer.findings.length);
    }
  } finally {
    Object.assign(console, { error, warn });
    watch.stop();
    await platform.close();
  }
  const neverDone = platform.routes.map(nameOf).filter((name) => !fuzzer.done.has(name));
  return { asked: count, statuses: fuzzer.statuses, neverDone, findings: fuzzer.findings };
};

/** One finding per kind, with its first request. */
export const summary = (findings: Finding[]): string => {
  const kinds = new Map<string, Finding[]>();
  for (const finding of findings) {
    const where = finding.request.split('\n')[0];
    const kind = `${finding.what}: ${where}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), finding]);
  }
  return [...kinds]
    .map(([kind, [first, ...more]]) => {
      const { n, request, detail } = first as Finding;
      return `${kind} (${more.length + 1}×, first request ${n})\n${request}\n    ${detail.slice(0, 1200)}`;
    })
    .join('\n\n');
};
