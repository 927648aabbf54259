import { isFinal, type RunStatus } from './status.ts';

/** How a run's status reads to people (seeds/000; lifecycle: states). For the page, the command line and messages. */

/** What a status means to whoever looks: `attention` waits for a person, `running` goes on by itself. */
export type Tone = 'waiting' | 'running' | 'attention' | 'good' | 'bad' | 'neutral';

export interface StatusFacts {
  status: RunStatus;
  /** API `actions.is-confirmable`. */
  confirmable: boolean;
  /** API `status-timestamps`: tells which of plan and apply an errored run failed in. */
  statusTimestamps: Record<string, string>;
}

export interface Display {
  name: string;
  tone: Tone;
}

const names: Record<Exclude<RunStatus, 'errored'>, string> = {
  pending: 'Pending',
  fetching: 'Fetching',
  fetching_completed: 'Fetching',
  pre_plan_running: 'Pre-plan running',
  pre_plan_completed: 'Pre-plan completed',
  plan_queued: 'Plan queued',
  planning: 'Planning',
  planned: 'Planned',
  post_plan_running: 'Post-plan running',
  post_plan_awaiting_decision: 'Policy Override',
  post_plan_completed: 'Post-plan completed',
  cost_estimating: 'Cost Estimating',
  cost_estimated: 'Cost Estimated',
  policy_checking: 'Policy Check',
  policy_override: 'Policy Override',
  policy_soft_failed: 'Policy Soft Failed',
  policy_checked: 'Policy Checked',
  planned_and_saved: 'Planned and Saved',
  planned_and_finished: 'Planned and Finished',
  confirmed: 'Confirmed',
  pre_apply_running: 'Pre-apply running',
  pre_apply_completed: 'Pre-apply completed',
  apply_queued: 'Apply queued',
  applying: 'Applying',
  post_apply_running: 'Post-apply running',
  post_apply_completed: 'Post-apply completed',
  applied: 'Applied',
  discarded: 'Discarded',
  canceled: 'Canceled',
};

const forPeople: readonly RunStatus[] = ['policy_override', 'post_plan_awaiting_decision', 'planned_and_saved'];

/** Whether the apply ever began to be worked on; before, an error is the plan's. */
const reachedApply = (stamps: Record<string, string>): boolean => 'apply-queued-at' in stamps;

const toneOf = ({ status, confirmable }: StatusFacts): Tone => {
  if (confirmable || forPeople.includes(status)) return 'attention';
  if (status === 'applied' || status === 'planned_and_finished') return 'good';
  if (status === 'errored' || status === 'policy_soft_failed') return 'bad';
  if (isFinal(status)) return 'neutral';
  return status === 'pending' ? 'waiting' : 'running';
};

export const displayStatus = (facts: StatusFacts): Display => {
  const { status, confirmable, statusTimestamps } = facts;
  const tone = toneOf(facts);
  if (status === 'errored') return { tone, name: reachedApply(statusTimestamps) ? 'Apply Errored' : 'Plan Errored' };
  // A saved plan may be confirmed too, but keeps its name: it does not hold the queue.
  return { tone, name: confirmable && status !== 'planned_and_saved' ? 'Needs Confirmation' : names[status] };
};
