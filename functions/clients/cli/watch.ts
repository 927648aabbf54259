import type { Client, Resource } from '#clients/client/client.ts';
import { followLog } from '#clients/client/log.ts';
import { awaitedPool, awaitsRunner, factsOf, since } from '#clients/client/run-facts.ts';
import { finishing } from '#clients/client/text/canceling.ts';
import { fetchRetry } from '#clients/client/text/fetching.ts';
import { duration } from '#clients/client/text/time.ts';
import { messageIn, readable } from '#platform/text/terraform-json.ts';
import { displayStatus } from '#run/display.ts';
import { type Stage, type StageName, stagesOf } from '#run/stages.ts';
import { isFinal } from '#run/status.ts';
import { type CheckResult, check, costEstimate, evaluation, taskResults } from './checks.ts';
import type { ExitCode } from './exit.ts';
import { withRetries } from './network-timeout.ts';
import { readPlanLines } from './plan-text.ts';
import { type Changes, changesOf, fetchSnapshot, type RunSnapshot, type Wait } from './run-snapshot.ts';

/** Events of a run, in order. The format is documented in `stepform runs watch --help`; times are UTC. */
export type WatchEvent =
  | { event: 'run'; id: string; message: string; run: Resource<'runs'> }
  | { event: 'status'; status: string; name: string; at: string }
  | { event: 'waits'; reason: string }
  /** A line of Terraform's output, with its colours. */
  | { event: 'log'; phase: 'plan' | 'apply'; line: string }
  | { event: 'stage'; stage: StageName; state: Stage['state']; seconds: number; changes?: Changes }
  | CheckResult
  | { event: 'unreachable'; reason: string }
  | { event: 'end'; status: string; name: string; 'exit-code': ExitCode; run: Resource<'runs'> };

export interface Watching {
  emit(event: WatchEvent): void;
  /** Called when the run waits for a decision. `stay`: keep watching, because a user decided or another user may. */
  decide(snapshot: RunSnapshot): Promise<'stay' | 'leave'>;
  /** Leaves out Terraform's earlier output. */
  onlyNew?: boolean;
  /** False: Terraform's output is not read at all. Default: true. */
  withLogs?: boolean;
  /** Why the run is waiting; called from time to time. */
  waitsFor?(run: Resource<'runs'>): Promise<Wait | undefined>;
  /** Called while it waits for a user's decision on something else, such as the run ahead. Default: keep watching. */
  leaves?(): boolean;
  signal?: AbortSignal;
}

const phaseOf = (name: StageName): 'plan' | 'apply' | undefined =>
  name === 'Plan' ? 'plan' : name === 'Apply' ? 'apply' : undefined;

const notBegun = ['pending', 'queued', 'agent_queued', 'unreachable'];

/** Shorter waits are not explained. */
const longEnoughMs = 400;

const pollMs = { first: 250, running: 1_000, waiting: 3_000 };

/** What a result is about: task, cost estimate, or one of the two kinds of policies, which can have the same status. */
const subjectOf = (result: CheckResult): string => {
  switch (result.event) {
    case 'task-result':
      return `${result.event} ${result.stage} ${result.task}`;
    case 'policies':
      return result.kind;
    case 'cost-estimate':
      return result.event;
  }
};

class Watch {
  readonly #client: Client;
  readonly #options: Watching;
  readonly #told = new Set<string>();
  readonly #logs = new Map<'plan' | 'apply', Promise<void>>();
  #seen!: RunSnapshot;
  #policyFailed = false;
  #left = false;
  #isFirst = true;
  /** The plan's output is JSON lines, which contain no changes. */
  #planIsJson = false;

  constructor(client: Client, options: Watching) {
    this.#client = client;
    this.#options = options;
  }

  async see(id: string): Promise<RunSnapshot> {
    const { signal, emit } = this.#options;
    let decided = '';
    try {
      for (let wait = pollMs.first; ; ) {
        this.#seen = await withRetries(() => fetchSnapshot(this.#client, id), emit, signal);
        const { run } = this.#seen;
        this.#once('run', () => emit({ event: 'run', id, message: run.attributes.message, run }));
        const isNew = this.#status();
        await this.#stages();
        this.#isFirst = false;
        if (isFinal(run.attributes.status) || signal?.aborted) break;
        const question = this.#question();
        if (question && question !== decided) {
          decided = question;
          if ((await this.#options.decide(this.#result())) === 'leave') break;
          wait = pollMs.first;
          continue;
        }
        const isWaiting = question !== undefined || run.attributes.status === 'pending';
        if (run.attributes.status === 'pending') {
          if ((await this.#waits(wait)) && this.#options.leaves?.()) break;
        } else {
          this.#fetching();
          this.#agents(wait);
          this.#runner();
          this.#canceling();
        }
        wait = isNew ? pollMs.first : Math.min(wait * 1.2, isWaiting ? pollMs.waiting : pollMs.running);
        await pause(wait, signal);
      }
    } finally {
      this.#left = true;
    }
    return this.#result();
  }

  #result(): RunSnapshot {
    return { ...this.#seen, policyFailed: this.#policyFailed };
  }

  #once(key: string, tell: () => void): boolean {
    if (this.#told.has(key)) return false;
    this.#told.add(key);
    tell();
    return true;
  }

  /** @returns whether it has changed */
  #status(): boolean {
    const { run } = this.#seen;
    const { name } = displayStatus(factsOf(run));
    const { status } = run.attributes;
    return this.#once(`status ${status} ${name}`, () =>
      this.#options.emit({ event: 'status', status, name, at: since(run) }),
    );
  }

  #question(): string | undefined {
    const { run, override } = this.#seen;
    return override ?? (run.attributes.actions['is-confirmable'] ? 'confirm' : undefined);
  }

  #agents(soFar: number): void {
    const pool = awaitedPool(this.#seen.plan) ?? awaitedPool(this.#seen.apply);
    if (!pool || soFar < longEnoughMs) return;
    const reason = `for an agent in pool ${pool.name}`;
    this.#once(`waits ${reason}`, () => this.#options.emit({ event: 'waits', reason }));
  }

  #fetching(): void {
    const reason = fetchRetry(this.#seen.run);
    if (reason) this.#once(`waits ${reason}`, () => this.#options.emit({ event: 'waits', reason }));
  }

  /** Again every minute. */
  #runner(): void {
    const { run, plan, apply } = this.#seen;
    const waitedMs = Date.now() - Date.parse(since(run));
    const minutes = Math.floor(waitedMs / 60_000);
    if (minutes < 1 || !(awaitsRunner(plan) || awaitsRunner(apply))) return;
    const reason = `for a runner, ${duration(waitedMs)}`;
    this.#once(`${run.attributes.status} ${minutes}`, () => this.#options.emit({ event: 'waits', reason }));
  }

  /** Again every minute, and when something has ended. */
  #canceling(): void {
    const { run } = this.#seen;
    const open = finishing(run, Date.now());
    if (!open) return;
    const since = Date.parse(run.attributes['canceled-at'] ?? '');
    const addresses = run.attributes['finishing-resources'].map(({ address }: { address: string }) => address);
    const key = `canceling ${Math.floor((Date.now() - since) / 60_000)} ${addresses}`;
    const reason = `for Terraform, which finishes the changes in progress: ${open}`;
    this.#once(key, () => this.#options.emit({ event: 'waits', reason }));
  }

  /** @returns whether only a user can end the wait */
  async #waits(soFar: number): Promise<boolean> {
    // Most waits are too short to be worth reporting.
    if (soFar < longEnoughMs || !this.#options.waitsFor) return false;
    const wait = await this.#options.waitsFor(this.#seen.run);
    if (!wait) return false;
    const { reason, forPerson } = wait;
    this.#once(`waits ${reason}`, () => this.#options.emit({ event: 'waits', reason }));
    return forPerson;
  }

  /** Stages in order, each with its results before its end. */
  async #stages(): Promise<void> {
    for (const stage of stagesOf(factsOf(this.#seen.run))) {
      if (!stage.from || this.#told.has(`stage ${stage.name}`)) continue;
      const phase = phaseOf(stage.name);
      if (phase && this.#options.withLogs !== false) this.#follow(phase);
      const over = stage.state !== 'current';
      if (over && phase) await this.#logs.get(phase);
      if (over && phase === 'plan' && this.#planIsJson) await this.#planned();
      await this.#judgements(stage, over);
      if (!over) return;
      this.#once(`stage ${stage.name}`, () => this.#ended(stage));
    }
  }

  /** The planned changes, after the plan's output. */
  async #planned(): Promise<void> {
    const { plan } = this.#seen;
    if (plan?.attributes.status !== 'finished' || this.#told.has('changes')) return;
    this.#told.add('changes');
    // Users without access to the plan still see its counts.
    const lines = await readPlanLines(this.#client, plan.id).catch(() => []);
    for (const line of lines) this.#options.emit({ event: 'log', phase: 'plan', line });
  }

  #ended({ name, state, from = '', to = '' }: Stage): void {
    const seconds = Math.max(0, Date.parse(to) - Date.parse(from)) / 1000 || 0;
    const phase = phaseOf(name);
    const changes = phase && changesOf(this.#seen[phase]);
    this.#options.emit({ event: 'stage', stage: name, state, seconds, ...(changes ? { changes } : {}) });
  }

  async #judgements({ name }: Stage, over: boolean): Promise<void> {
    const { run, stages, override } = this.#seen;
    // Print the results before the question; they do not change until it is answered.
    const due = over || (override !== undefined && !this.#told.has(override));
    if (override && !over) this.#told.add(override);
    if (/^(Pre|Post)-/.test(name) && stages.length > 0) {
      const slug = name.toLowerCase().replace('-', '_');
      for (const result of await taskResults(this.#client, run)) if (result.stage === slug) this.#judged(result);
    }
    if (name === 'Post-plan' && due) this.#judged(await evaluation(this.#client, stages));
    if (name === 'Cost estimate') this.#judged(costEstimate(this.#seen.costEstimate));
    if (name === 'Policy check' && due) this.#judged(await check(this.#client, run));
  }

  #judged(judgement: CheckResult | undefined): void {
    if (!judgement) return;
    if (judgement.event === 'policies') {
      this.#policyFailed = /^(hard_failed|soft_failed|failed|errored)$/.test(judgement.status);
    }
    this.#once(`${subjectOf(judgement)} ${judgement.status}`, () => this.#options.emit(judgement));
  }

  /**
   * Follows the log from its start. A log without an end marker ends when the run moves on, or when watching ends.
   */
  #follow(phase: 'plan' | 'apply'): void {
    const document = this.#seen[phase];
    if (!document || this.#logs.has(phase) || notBegun.includes(document.attributes.status)) return;
    if (this.#options.onlyNew && this.#isFirst && !this.#isAt(phase)) {
      this.#logs.set(phase, Promise.resolve());
      return;
    }
    const over = () => this.#left || this.#options.signal?.aborted === true || !this.#isAt(phase);
    this.#logs.set(phase, this.#read(phase, document.attributes['log-read-url'], over));
  }

  #isAt(phase: 'plan' | 'apply'): boolean {
    const status = this.#seen[phase]?.attributes.status;
    return status === 'running' && !isFinal(this.#seen.run.attributes.status);
  }

  async #read(phase: 'plan' | 'apply', url: string, over: () => boolean): Promise<void> {
    const emitLine = (text: string) => {
      if (this.#options.signal?.aborted) return;
      if (phase === 'plan') this.#planIsJson ||= messageIn(text) !== undefined;
      for (const line of readable(text, phase)) this.#options.emit({ event: 'log', phase, line });
    };
    let rest = '';
    for await (const text of followLog(url, over, 250)) {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) emitLine(line.replace(/\r$/, ''));
    }
    if (rest) emitLine(rest);
  }
}

const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    if (signal?.aborted) end();
    signal?.addEventListener('abort', end);
  });

/**
 * Follows a run until it ends, the user stops watching, or it waits for a decision that is not made. One request at a
 * time for the run (every 0.25 to 1 s while it is active, 3 s while it waits), and one for the current log.
 */
export const watchRun = (client: Client, id: string, watching: Watching): Promise<RunSnapshot> =>
  new Watch(client, watching).see(id);
