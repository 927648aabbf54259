import { type Client, isFinalRun, type Resource } from '#clients/client/client.ts';
import { factsOf, offeredActions } from '#clients/client/run-facts.ts';
import { displayStatus } from '#run/display.ts';
import { type FinalStatus, type RunStatus, statuses } from '#run/status.ts';
import { type ExitCode, exit } from './exit.ts';
import { bold } from './paint.ts';
import { program } from './program.ts';
import { type RunSnapshot, workspaceOf } from './run-snapshot.ts';
import { columns } from './terminal.ts';
import type { WatchEvent } from './watch.ts';

/** The result of a watched run, and what to do next. */

const exitCodes: Record<FinalStatus, ExitCode> = {
  applied: exit.done,
  planned_and_finished: exit.done,
  policy_soft_failed: exit.policyFailed,
  errored: exit.errored,
  discarded: exit.discarded,
  canceled: exit.canceled,
};

export const exitCodeOf = ({ run, policyFailed }: Pick<RunSnapshot, 'run' | 'policyFailed'>): ExitCode => {
  if (!isFinalRun(run)) return exit.needsPerson;
  const status = run.attributes.status as FinalStatus;
  return status === 'errored' && policyFailed ? exit.policyFailed : exitCodes[status];
};

/** How a watch ends. */
export const endOf = (snapshot: RunSnapshot): Extract<WatchEvent, { event: 'end' }> => {
  const { run } = snapshot;
  const { name } = displayStatus(factsOf(run));
  return { event: 'end', status: run.attributes.status, name, 'exit-code': exitCodeOf(snapshot), run };
};

const verbs = {
  apply: ['Apply', 'confirm'],
  override: ['Override policies', 'override'],
  discard: ['Discard', 'discard'],
  cancel: ['Cancel', 'cancel'],
  'force-cancel': ['Force cancel', 'force-cancel'],
  'force-execute': ['Run now', ''],
} as const;

/** The apply's last changes are not in the workspace's state. */
const erroredState = (apply: Resource<'applies'> | undefined): boolean => apply?.links?.['errored-state'] !== undefined;

/** Next commands, each with its purpose. */
const nextSteps = ({ run, apply, override }: RunSnapshot, workspace: string): [what: string, command: string][] => {
  if (erroredState(apply)) {
    const file = `${run.id}-errored.tfstate`;
    return [
      ['Save the errored state', `${program} state pull --errored ${run.id} > ${file}`],
      ['Restore it', `${program} state push ${file}`],
    ];
  }
  if (statuses[run.attributes.status as RunStatus].final === 'failed')
    return [['Start a new run', `${program} runs start${workspace && ` --workspace ${workspace}`}`]];
  return offeredActions(run, undefined, override).flatMap((action): [string, string][] => {
    const [purpose, command] = verbs[action];
    return command ? [[purpose, `${program} runs ${command} ${run.id}`]] : [];
  });
};

/** The decision that the run waits for, if this user may not make it. */
export const waitsForOthers = ({ run, override }: RunSnapshot): string | undefined => {
  const { actions, permissions } = run.attributes;
  if (override)
    return permissions['can-override-policy-check']
      ? undefined
      : 'Waiting for someone with permission to override policies.';
  if (!actions['is-confirmable'] || permissions['can-apply']) return undefined;
  return 'Waiting for confirmation by someone with apply permission.';
};

export const waitsForPerson = ({ run, override }: RunSnapshot): boolean =>
  override !== undefined || run.attributes.actions['is-confirmable'];

/** What to do next, for people. 1 request when the run has failed, for the workspace's name. */
export const adviceOn = async (client: Client, snapshot: RunSnapshot): Promise<string[]> => {
  const hasFailed = statuses[snapshot.run.attributes.status as RunStatus].final === 'failed';
  const workspace = hasFailed ? await workspaceOf(client, snapshot.run) : '';
  const waiting = waitsForOthers(snapshot);
  const steps = nextSteps(snapshot, workspace).map(([purpose, command]) => [`  ${purpose}`, bold(command)]);
  return [...(waiting ? [waiting] : []), ...(steps.length ? ['', ...columns(steps)] : [])];
};
