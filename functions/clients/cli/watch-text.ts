import type { Resource } from '#clients/client/client.ts';
import { factsOf, kindOf } from '#clients/client/run-facts.ts';
import { dollars, signed } from '#clients/client/text/money.ts';
import { count, duration } from '#clients/client/text/time.ts';
import { displayStatus, type Tone } from '#run/display.ts';
import type { StageName } from '#run/stages.ts';
import type { CostEstimate, Policies, TaskResult } from './checks.ts';
import { bold, coloured, dim, green, plain, red, yellow } from './paint.ts';
import type { Changes } from './run-snapshot.ts';
import type { WatchEvent } from './watch.ts';

/** Prints a watched run, line by line. */

const tones: Partial<Record<Tone, (text: string) => string>> = { good: green, bad: red, attention: yellow };

export const paintTone = (tone: Tone, text: string): string => (tones[tone] ?? bold)(text);

const verbs = {
  plan: ['to add', 'to change', 'to destroy', 'to import'],
  apply: ['added', 'changed', 'destroyed', 'imported'],
};

/** `6 to add, 0 to change, 0 to destroy` */
export const changesInWords = (changes: Changes, phase: 'plan' | 'apply'): string => {
  const [add, change, destroy, imported] = verbs[phase];
  const { additions, changes: changed, destructions, imports } = changes;
  const words = `${additions} ${add}, ${changed} ${change}, ${destructions} ${destroy}`;
  return imports ? `${imports} ${imported}, ${words}` : words;
};

const passed = green('✓');
const failed = red('✗');

const taskLine = ({ task, status, 'enforcement-level': level, message, url }: TaskResult): string => {
  const mark = status === 'passed' ? passed : level === 'advisory' ? yellow('!') : failed;
  const suffix = message ? `: ${plain(message)}` : '';
  return `  ${mark} ${bold(plain(task))} ${dim(`(${level})`)} ${status}${suffix}${url ? `  ${dim(plain(url))}` : ''}`;
};

/** Maximum messages printed per policy; the page shows all. */
const maxMessages = 10;

const policyLines = ({ kind, status, errors, policies }: Policies): string[] => {
  const title = kind === 'policy-check' ? 'Policy check' : 'Policies';
  // Failures were already printed with the override prompt.
  if (status === 'overridden') return [`  ${title}: overridden`];
  const passedCount = policies.filter((policy) => policy.status === 'passed').length;
  const head = `  ${title}: ${status.replaceAll('_', ' ')}, ${passedCount} of ${count(policies.length, 'policy').replace('policys', 'policies')} passed`;
  const lines = policies.flatMap((policy) => {
    if (policy.status === 'passed') return [];
    const mark = policy['enforcement-level'] === 'advisory' ? yellow('!') : failed;
    const hiddenMessages = policy.messages.length - maxMessages;
    return [
      `  ${mark} ${bold(plain(policy.name))} ${dim(`(${policy['enforcement-level']})`)} ${policy.status}`,
      ...policy.messages.slice(0, maxMessages).flatMap((text) =>
        plain(text)
          .split('\n')
          .map((line) => `      ${line}`),
      ),
      ...(hiddenMessages > 0 ? [dim(`      and ${count(hiddenMessages, 'more message')}`)] : []),
    ];
  });
  return [head, ...errors.map((error) => `  ${failed} ${plain(error)}`), ...lines];
};

const costLine = (cost: CostEstimate): string => {
  const { status, 'prior-monthly-cost': prior, 'proposed-monthly-cost': next, 'delta-monthly-cost': delta } = cost;
  if (status === 'finished' && prior !== null && next !== null && delta !== null) {
    const unpriced = cost['unmatched-resources-count'] ?? 0;
    if (unpriced > 0 && !cost['matched-resources-count'])
      return `  ${yellow('!')} ${count(unpriced, 'resource')} without a known price`;
    const rest = unpriced > 0 ? dim(`, ${count(unpriced, 'resource')} without a known price not included`) : '';
    return `  ${dollars(prior)} → ${bold(dollars(next))} a month ${dim(`(${signed(delta)})`)}${rest}`;
  }
  return `  ${yellow('!')} no estimate: ${plain(cost['error-message'] ?? status.replaceAll('_', ' '))}`;
};

/** Check blocks that failed. */
export const checkLines = ({ attributes }: Resource<'runs'>): string[] =>
  attributes['failed-checks'].map(
    ({ address, message }) => `${yellow('!')} ${bold(plain(address))} failed: ${plain(message)}`,
  );

const marks = { done: passed, failed, stopped: yellow('■'), current: ' ', ahead: ' ', skipped: ' ' };
const width = 'Cost estimate'.length;

/** Location on the page; relative to the platform's URL. */
const placeOf = (path: string): string => {
  const [, organization, workspace] = /^\/app\/([^/]+)\/workspaces\/([^/]+)\//.exec(path) ?? [];
  return organization ? ` in ${decodeURIComponent(organization)}/${decodeURIComponent(workspace ?? '')}` : '';
};

export class WatchText {
  readonly #print: (line: string) => void;
  readonly #url: string;
  #quoting = false;

  /** @param url of the platform */
  constructor(url: string, write: (line: string) => void) {
    this.#url = url;
    this.#print = write;
  }

  readonly emit = (event: WatchEvent): void => {
    if (event.event === 'log') {
      if (!this.#quoting) this.#print('');
      this.#quoting = true;
      this.#print(coloured(event.line));
      return;
    }
    const lines = this.#linesOf(event);
    if (lines.length > 0 && this.#quoting) {
      this.#quoting = false;
      this.#print('');
    }
    for (const line of lines) this.#print(line);
  };

  #linesOf(event: Exclude<WatchEvent, { event: 'log' }>): string[] {
    switch (event.event) {
      case 'run': {
        const path = event.run.links?.['self-html'] ?? '';
        const kind = kindOf(event.run);
        const head = `${bold(plain(event.message))}${kind ? ` (${kind})` : ''}  ${dim(`${event.id}${placeOf(path)}`)}`;
        return [head, dim(`${this.#url}${path}`), ''];
      }
      case 'waits':
        return [`… waiting ${plain(event.reason)}`];
      case 'stage':
        return [this.#stage(event.stage, event)];
      case 'task-result':
        return [taskLine(event)];
      case 'policies':
        return policyLines(event);
      case 'cost-estimate':
        return [costLine(event)];
      case 'unreachable':
        return [`… can’t reach the server (${event.reason}). The run continues; retrying`];
      case 'end': {
        const reason = event.run.attributes['end-reason'];
        const { tone } = displayStatus(factsOf(event.run));
        return ['', paintTone(tone, event.name), ...(reason ? [plain(reason)] : []), ...checkLines(event.run)];
      }
      case 'status':
        return [];
    }
  }

  #stage(name: StageName, { state, seconds, changes }: Extract<WatchEvent, { event: 'stage' }>): string {
    const words = changes ? `  ${changesInWords(changes, name === 'Apply' ? 'apply' : 'plan')}` : '';
    return `${marks[state]} ${name.padEnd(width)} ${duration(seconds * 1000).padStart(9)}${words}`;
  }
}
