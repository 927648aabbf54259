import type { Resource } from '#clients/client/client.ts';
import type { TaskPayload } from '#run/task-payload.ts';
import type { Flavor } from './ledger.ts';
import type { Place } from './workspaces.ts';

/** The response that a client got; `unknown` if there was none, or a failure. */
export type Outcome = 'accepted' | 'refused' | 'unknown';

export const runKinds = {
  apply: { 'auto-apply': true },
  confirm: {},
  destroy: { 'auto-apply': true, 'is-destroy': true },
  planOnly: { 'plan-only': true },
  savePlan: { 'save-plan': true },
} as const;
export type RunKind = keyof typeof runKinds;

export type ChaosAction = 'apply' | 'discard' | 'cancel' | 'force-cancel' | 'override' | 'stop';

interface Verdict {
  runId: string;
  stage: string;
  strict: boolean;
  said: 'passed' | 'failed';
  /** The response accepted it. */
  taken: boolean;
}

interface Known {
  place: Place;
  kind: RunKind;
  flavor: Flavor;
  number: number;
  actions: { action: ChaosAction; outcome: Outcome; at: number }[];
}

/** Records requests and responses, and decides which results of a run are possible. */
export class Model {
  readonly #runs = new Map<string, Known>();
  readonly #verdicts: Verdict[] = [];
  /** Ended runs that hold the lock of their workspace, because its state may lack resources that they created. */
  readonly lockedBy = new Set<string>();

  /** Runs whose creation was confirmed: they must exist. */
  created(id: string, place: Place, kind: RunKind, flavor: Flavor): void {
    this.#runs.set(id, { place, kind, flavor, number: this.#runs.size + 1, actions: [] });
  }

  get acknowledged(): string[] {
    return [...this.#runs.keys()];
  }

  /** A stable number of the run; 0 if no client knows its id. */
  numberOf(id: string): number {
    return this.#runs.get(id)?.number ?? 0;
  }

  noteAction(id: string, action: ChaosAction, outcome: Outcome): void {
    this.#runs.get(id)?.actions.push({ action, outcome, at: Date.now() });
  }

  wasStopped(id: string): boolean {
    return !!this.#runs.get(id)?.actions.some(({ action }) => action === 'stop');
  }

  verdict(payload: TaskPayload, verdictStatus: Verdict['said']): Verdict {
    const { run_id: runId, stage, task_result_enforcement_level: level } = payload;
    const verdict = { runId, stage, said: verdictStatus, strict: level === 'mandatory', taken: false };
    this.#verdicts.push(verdict);
    return verdict;
  }

  /**
   * @param changed whether the run created or destroyed any resource
   * @returns violated invariants
   */
  contradictions(run: Resource, changed: boolean): string[] {
    const planned = this.#runs.get(run.id);
    if (!planned) return [];
    const { status, 'status-timestamps': stamps } = run.attributes;
    const { actions, kind, flavor, place } = planned;
    const applying = Date.parse(stamps['applying-at'] ?? '');
    const applied = status === 'applied' || changed || !Number.isNaN(applying);
    const may = (action: ChaosAction) => actions.some((one) => one.action === action && one.outcome !== 'refused');
    const accepted = (action: ChaosAction) =>
      actions.find((one) => one.action === action && one.outcome === 'accepted');
    const fails = (name: string) => place.judged && kind !== 'destroy' && flavor.names.includes(name);
    const needs = (name: string) => fails(name) && !may('override');
    const cancel = accepted('cancel');
    const wrong: [boolean, string][] = [
      [kind === 'planOnly', 'was only to be planned'],
      [(kind === 'confirm' || kind === 'savePlan') && !may('apply'), 'was not confirmed'],
      [!!flavor.broken, 'has a plan that fails'],
      [!!accepted('discard'), 'was discarded'],
      [!!cancel && !(applying < cancel.at + 1000), 'was canceled before'],
      [needs('c') || needs('d'), 'failed policies without an override'],
      [fails('e'), 'failed a policy that cannot be overridden'],
      ...this.#taskFailures(run.id, place).map((reason): [boolean, string] => [true, reason]),
    ];
    const problems = wrong.flatMap(([so, what]) => (applied && so ? [`was applied, and ${what}`] : []));
    if (accepted('discard') && status !== 'discarded') problems.push('was discarded');
    if (flavor.failing && kind !== 'destroy' && status === 'applied') problems.push('has an apply that fails');
    if (kind === 'planOnly' && status === 'planned_and_finished' && (fails('d') || fails('c') || fails('e')))
      problems.push('failed policies');
    return problems.map((what) => `${run.id} ended as ${status}: it ${what}`);
  }

  #taskFailures(runId: string, { asks }: Place): string[] {
    if (!asks) return [];
    return ['pre_plan', 'post_plan', 'pre_apply'].flatMap((stage) => {
      const verdicts = this.#verdicts.filter((one) => one.runId === runId && one.stage === stage && one.strict);
      const first = verdicts[0];
      if (first?.said === 'failed' && first.taken) return [`its task failed in ${stage}`];
      return verdicts.some((one) => one.said === 'passed') ? [] : [`its task has not passed in ${stage}`];
    });
  }
}
