import { type FailedStep, failedStep } from '#run/failed-step.ts';
import type { Run } from '#run/run.ts';
import { isFinal, statuses } from '#run/status.ts';
import type { StatusState } from './forges/forge.ts';

/**
 * Text of a commit's status about a run: the result of its plan and checks, never of its apply (HCP Terraform: VCS
 * integration). It contains no values, addresses or errors, because readers of the repository may lack permission to
 * read the workspace.
 */

export interface Outcome extends Words {
  kind: 'workspace' | 'policy set';
  /** Distinguishes it from other statuses of the commit, if each run has its own. */
  context: string;
  /** Path below the organization's pages. */
  page: string;
}

export interface Words {
  state: StatusState;
  description: string;
}

const planWords = ({ plan }: Run): string => {
  const { hasChanges, counts: { additions = 0, changes = 0, destructions = 0 } = {} } = plan.report ?? {};
  if (!hasChanges) return 'No changes';
  return `Plan: ${additions} to add, ${changes} to change, ${destructions} to destroy`;
};

/** A run counts as planned only after its last check: a required status must not pass before its policies. */
const isPlanned = ({ plan, status, wait }: Run): boolean =>
  plan.status === 'finished' && (statuses[status].commit === null || wait?.state === 'NeedsConfirmation');

/** Without names: readers of the repository may lack permission to read the workspace. */
const failures: Record<FailedStep | 'plan', string> = {
  'configuration not fetched': 'The commit could not be fetched',
  'not planned': 'The plan could not be started',
  'run task': 'A run task failed',
  'policy check': 'A policy failed',
  plan: 'Plan failed',
};

export const ofRun = (run: Run): Words => {
  const { status, plan, apply, cancel } = run;
  if (status === 'canceled') {
    if (plan.status === 'finished') return { state: 'success', description: planWords(run) };
    const why = cancel?.by === 'vcs' ? 'Canceled: a newer commit was pushed' : 'Canceled';
    return { state: 'error', description: why };
  }
  if (status === 'policy_soft_failed') return { state: 'failure', description: 'A policy failed' };
  if (status === 'errored') {
    if (apply.status !== 'pending' && apply.status !== 'unreachable')
      return { state: 'success', description: planWords(run) };
    return { state: 'failure', description: failures[failedStep(run) ?? 'plan'] };
  }
  if (isPlanned(run) || (isFinal(status) && plan.status === 'finished'))
    return { state: 'success', description: planWords(run) };
  if (isFinal(status)) return { state: 'error', description: 'Discarded' };
  return { state: 'pending', description: statuses[status].commit ?? planWords(run) };
};

const worst: StatusState[] = ['failure', 'error', 'pending', 'success'];

/** Worst first. */
export const rankOf = ({ state }: Pick<Words, 'state'>): number => worst.indexOf(state);

const names: Record<StatusState, string> = {
  success: 'planned',
  failure: 'failed',
  error: 'canceled',
  pending: 'running',
};

const countsOf = (outcomes: Outcome[]): string =>
  (['success', 'failure', 'error', 'pending'] as const)
    .flatMap((one) => {
      const n = outcomes.filter((outcome) => outcome.state === one).length;
      return n ? [`${n} ${names[one]}`] : [];
    })
    .join(', ');

/** GitHub's limit. */
const maxDescription = 140;

/** Summary of all workspaces and policy sets. */
export const aggregated = (outcomes: Outcome[]): Words => {
  const [only] = outcomes;
  if (only && outcomes.length === 1) return { state: only.state, description: only.description };
  const state = worst.find((one) => outcomes.some((outcome) => outcome.state === one)) ?? 'success';
  const workspaces = outcomes.filter(({ kind }) => kind === 'workspace');
  const others = outcomes.filter(({ kind }) => kind === 'policy set');
  // Failures first, because the end may be cut off.
  const told = [...others].sort((a, b) => rankOf(a) - rankOf(b));
  const words = [
    ...(workspaces.length > 0
      ? [`${workspaces.length} workspace${workspaces.length === 1 ? '' : 's'}: ${countsOf(workspaces)}`]
      : []),
    ...told.map(({ description }) => description),
  ];
  return { state, description: words.join('; ').slice(0, maxDescription) };
};
