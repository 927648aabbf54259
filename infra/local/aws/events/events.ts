import { randomUUID } from 'node:crypto';
import { StartError } from '#infra/local/host/errors.ts';
import type { Faults } from '#infra/local/host/faults.ts';
import type { Home } from '#infra/local/host/home.ts';
import type { Stack } from '#infra/local/host/template.ts';
import { compilePattern } from '../iam/pattern.ts';
import { AsyncInvocations } from '../lambda/async-invocations.ts';

export interface Event {
  source: string;
  'detail-type': string;
  resources: string[];
  detail: Record<string, unknown>;
}

interface RuleProperties {
  EventPattern?: Record<string, unknown>;
  ScheduleExpression?: string;
  State?: 'ENABLED' | 'DISABLED';
  Targets?: Target[];
}
interface Target {
  Id: string;
  Arn: string;
  Input?: string;
  InputPath?: string;
  InputTransformer?: unknown;
}
interface Rule {
  name: string;
  arn: string;
  matches?: (event: unknown) => boolean;
  everyMs?: number;
  targets: Target[];
}

export interface EventsOptions {
  stack: Stack;
  home: Home;
  faults: Faults;
  /** Rejects if the function fails. */
  invoke(functionArn: string, event: unknown): Promise<unknown>;
  log(line: string): void;
}

/** EventBridge: the template's rules for events and schedules. Delivery is at least once while the platform runs. */
export class Events {
  readonly #options: EventsOptions;
  readonly #rules: Rule[];
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #later: AsyncInvocations;
  /** Events published before the start; undefined after it. */
  #early: Event[] | undefined = [];

  constructor(options: EventsOptions) {
    this.#options = options;
    this.#later = new AsyncInvocations(options.log);
    this.#rules = options.stack
      .all<RuleProperties>('AWS::Events::Rule')
      .filter(({ properties }) => properties.State !== 'DISABLED')
      .map(({ ref, arn, properties }) => {
        const targets = properties.Targets ?? [];
        for (const { Arn, InputPath, InputTransformer } of targets)
          if (!Arn.includes(':function:') || InputPath !== undefined || InputTransformer !== undefined)
            throw new StartError(
              `rule ${ref}: the local platform only sends whole events or fixed inputs to functions`,
            );
        return {
          name: ref,
          arn,
          targets,
          matches: properties.EventPattern && compilePattern(properties.EventPattern, ref),
          everyMs: properties.ScheduleExpression ? rateMs(properties.ScheduleExpression, ref) : undefined,
        };
      });
  }

  /** ARNs of the functions that rules invoke, with the rule: to check the permission of each rule. */
  get targets(): { rule: string; ruleArn: string; functionArn: string }[] {
    return this.#rules.flatMap(({ name, arn, targets }) =>
      targets.map((target) => ({ rule: name, ruleArn: arn, functionArn: target.Arn })),
    );
  }

  /**
   * Delivers earlier events and, from now on, new ones.
   * @param atOnce fire every schedule now too: after a restart, much may be overdue
   */
  start(atOnce: boolean): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const event of early) this.publish(event);
    for (const rule of this.#rules) {
      if (rule.everyMs === undefined) continue;
      const fire = () =>
        this.#deliver(rule, {
          source: 'aws.events',
          'detail-type': 'Scheduled Event',
          resources: [rule.arn],
          detail: {},
        });
      const timer = setInterval(fire, rule.everyMs);
      timer.unref();
      this.#timers.add(timer);
      if (atOnce) fire();
    }
  }

  publish(event: Event): void {
    if (this.#early) {
      this.#early.push(event);
      return;
    }
    for (const rule of this.#rules) {
      // Patterns match the whole envelope; no rule can match its generated parts (id, time).
      if (rule.matches?.({ ...event, account: this.#options.home.accountId, region: this.#options.home.region }))
        this.#deliver(rule, event);
    }
  }

  #deliver(rule: Rule, event: Event): void {
    const { accountId, region } = this.#options.home;
    const envelope = {
      version: '0',
      id: randomUUID(),
      account: accountId,
      time: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
      region,
      ...event,
    };
    for (const target of rule.targets) {
      const input = target.Input === undefined ? envelope : JSON.parse(target.Input);
      const attempt = () =>
        void this.#later.attempt(`rule ${rule.name}: ${target.Arn}`, () => this.#options.invoke(target.Arn, input));
      const { kind, ms = 1000 } = this.#options.faults.ofEvent(event) ?? {};
      if (kind === 'lose') continue;
      if (kind === 'late') this.#later.after(ms, attempt);
      else attempt();
      if (kind === 'duplicate') attempt();
    }
  }

  close(): void {
    this.#later.close();
    for (const timer of this.#timers) clearTimeout(timer);
  }
}

const rateMs = (expression: string, rule: string): number => {
  const [, amount, unit] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  const ms = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }[unit ?? ''];
  if (ms === undefined)
    throw new StartError(`rule ${rule}: the local platform supports rate(…) schedules, not ${expression}`);
  return Number(amount) * ms;
};
