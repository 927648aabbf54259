import { waitsForPerson } from '../actions.ts';
import { failedStep } from '../failed-step.ts';
import type { PhaseReport } from '../phase-report.ts';
import { organizationNameOf, type Run } from '../run.ts';
import { type NotifiedStatus, type RunStatus, type RunTrigger, statuses, timestampKey } from '../status.ts';
import { choicesOf } from './choices.ts';
import { type Message, present, type TriggerWords } from './message.ts';

/** Notifications of a run (HCP API: notification configurations). Pure. */

/** The table of statuses (status.ts) has the trigger of each status. */
export const runTriggers = {
  'run:created': { label: 'Created', hint: 'The run was queued.' },
  'run:planning': { label: 'Planning', hint: 'The plan started.' },
  'run:needs_attention': {
    label: 'Needs attention',
    hint: 'The run waits for a confirmation or a policy override.',
  },
  'run:applying': { label: 'Applying', hint: 'The apply started.' },
  'run:completed': { label: 'Completed', hint: 'The run was applied, or had no changes.' },
  'run:errored': { label: 'Errored', hint: 'The run failed, or was canceled or discarded.' },
} as const satisfies Record<RunTrigger, TriggerWords>;

const toneOf: Record<RunTrigger, Message['tone']> = {
  'run:created': 'neutral',
  'run:planning': 'neutral',
  'run:needs_attention': 'attention',
  'run:applying': 'neutral',
  'run:completed': 'good',
  'run:errored': 'bad',
};

/** A notification of a run: the trigger and its status. Each pair is sent once. */
export interface RunNotice {
  trigger: RunTrigger;
  status: NotifiedStatus;
}

/** For a run that has just entered its status; undefined for plan-only runs, and for statuses without a trigger. */
export const notificationOf = (
  run: Pick<Run, 'status' | 'decision' | 'cancel' | 'planOnly'>,
): RunNotice | undefined => {
  const { status } = run;
  const { notifies: trigger } = statuses[status];
  if (run.planOnly || trigger === null) return undefined;
  // A decision was made before the state was entered.
  if (trigger === 'run:needs_attention' && !waitsForPerson(run)) return undefined;
  return { trigger, status: status as NotifiedStatus };
};

/** Body for destinations of type `generic`; the fields of the run are null in a verification. */
export interface RunPayload {
  payload_version: 1;
  notification_configuration_id: string;
  run_url: string | null;
  run_id: string | null;
  run_message: string | null;
  run_created_at: string | null;
  run_created_by: string | null;
  workspace_id: string | null;
  workspace_name: string | null;
  organization_name: string | null;
  notifications: {
    message: string;
    trigger: RunTrigger | 'verification';
    run_status: RunStatus | null;
    run_updated_at: string | null;
    run_updated_by: string | null;
  }[];
}

/** Id of the user who caused a status, if any. */
export const authorOf = (run: Run, status: RunStatus): string | undefined => {
  if (status === 'pending') return run.createdBy;
  if (status === 'canceled') return run.cancel?.by;
  return status === 'discarded' || status === 'applying' ? run.decision?.by : undefined;
};

export interface RunFacts {
  configurationId: string;
  /** Names of users. */
  createdBy: string;
  updatedBy: string | null;
  /** URL of this platform, without a trailing slash. */
  baseUrl: string;
}

const counts = (
  { counts: { additions = 0, changes = 0, destructions = 0 } = {} }: PhaseReport,
  [add, change, destroy]: [string, string, string],
): string => `${additions} ${add}, ${changes} ${change}, ${destructions} ${destroy}`;

const planned = ({ plan: { report } }: Run): string =>
  report?.hasChanges ? `: ${counts(report, ['to add', 'to change', 'to destroy'])}` : '';

const waits = (request: string) => (run: Run) => `Run planned${planned(run)}. ${request}`;
const toConfirm = waits('Confirm or discard it');
const toOverride = waits('Policies failed: override them or discard the run');

/** The texts contain only counts: names and values of resources are for users who can read the run. */
const texts: Record<NotifiedStatus, (run: Run) => string> = {
  pending: () => 'Run created',
  planning: () => 'Run planning',
  planned: toConfirm,
  post_plan_awaiting_decision: toOverride,
  post_plan_completed: toConfirm,
  cost_estimated: toConfirm,
  policy_override: toOverride,
  policy_checked: toConfirm,
  applying: (run) => `Run applying${planned(run)}`,
  applied: ({ apply: { report } }) =>
    report ? `Run applied: ${counts(report, ['added', 'changed', 'destroyed'])}` : 'Run applied',
  planned_and_finished: ({ plan }) =>
    plan.report?.hasChanges ? 'Run planned and finished' : 'Run planned and finished: no changes',
  errored: (run) => {
    if (run.apply.status === 'errored') return 'Run errored while applying';
    const step = failedStep(run);
    return `Run errored before applying${step ? `: ${step}` : ''}`;
  },
  canceled: () => 'Run canceled',
  discarded: () => 'Run discarded',
};

const textOf = (run: Run, { status }: RunNotice): string => texts[status](run);

const payloadOf = (
  run: Run,
  notice: RunNotice,
  { configurationId, createdBy, updatedBy, baseUrl }: RunFacts,
): RunPayload => ({
  payload_version: 1,
  notification_configuration_id: configurationId,
  run_url: `${baseUrl}/app/${organizationNameOf(run)}/workspaces/${run.workspaceName}/runs/${run.id}`,
  run_id: run.id,
  run_message: run.message,
  run_created_at: run.createdAt,
  run_created_by: createdBy,
  workspace_id: run.workspaceId,
  workspace_name: run.workspaceName,
  organization_name: organizationNameOf(run),
  notifications: [
    {
      message: textOf(run, notice),
      trigger: notice.trigger,
      run_status: notice.status,
      run_updated_at: run.statusTimestamps[timestampKey(notice.status)] ?? run.createdAt,
      run_updated_by: updatedBy,
    },
  ],
});

export const runMessage = (run: Run, notice: RunNotice, facts: RunFacts): Message & { payload: RunPayload } => {
  const payload = payloadOf(run, notice, facts);
  const { createdBy, updatedBy } = facts;
  return {
    payload,
    headline: `${run.workspaceName}: ${textOf(run, notice)}`,
    facts: present([
      ['Organization', organizationNameOf(run)],
      ['Workspace', run.workspaceName],
      ['Run', run.message],
      ['Started by', createdBy],
      ['Done by', updatedBy === createdBy ? null : updatedBy],
    ]),
    link: payload.run_url === null ? null : { url: payload.run_url, text: 'Open the run' },
    tone: toneOf[notice.trigger],
    ...(notice.trigger === 'run:needs_attention' ? { decision: { runId: run.id, choices: choicesOf(run) } } : {}),
  };
};

/** Message that verifies a destination. */
export const verificationMessage = (configurationId: string, name: string): Message & { payload: RunPayload } => {
  const message = `Verification of ${name}`;
  const payload: RunPayload = {
    payload_version: 1,
    notification_configuration_id: configurationId,
    run_url: null,
    run_id: null,
    run_message: null,
    run_created_at: null,
    run_created_by: null,
    workspace_id: null,
    workspace_name: null,
    organization_name: null,
    notifications: [{ message, trigger: 'verification', run_status: null, run_updated_at: null, run_updated_by: null }],
  };
  return { payload, headline: message, facts: [], link: null, tone: 'neutral' };
};

export interface RunEvent extends RunNotice {
  kind: 'run';
  id: string;
  runId: string;
}
