import { type Answer, accepted } from '#api/answer.ts';
import { type ApiError, conflict, forbidden } from '#api/errors.ts';
import { mayCancel } from '#api/permissions/reported-permissions.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { readComment } from '#api/validation.ts';
import { type ForceExecuteResult, forceExecuteRun } from '#lifecycle/queue/force-execute.ts';
import { run } from '#resources/runs/finder.ts';
import { discardStale, isStale } from '#resources/runs/saved-plans.ts';
import { checkUnmanaged, type ManagedAction } from '#resources/workspaces/managed.ts';
import { getWorkspace } from '#resources/workspaces/records.ts';
import type { Run } from '#run/run.ts';
import { type ActionResult, applyRun, cancelRun, discardRun, forceCancelRun } from './decisions.ts';

/** Records a user's decision and resumes the run's execution before responding. */
const act =
  (verb: string, decide: (run: Run, userId: string, comment?: string) => Promise<ActionResult>) =>
  async ({ request, subject, principal }: Context<Run>): Promise<Answer> => {
    const result = await decide(subject, principal.userId, readComment(request));
    if (result === 'accepted') return accepted();
    throw conflict(
      `Run ${subject.id} is ${subject.status} and cannot be ${verb} now. See its "actions" for the allowed ones.`,
      'transition not allowed',
    );
  };

/** Rejects actions on builds of environments, template imports and dry runs (decisions/0041). */
const checkNoBuild = ({ environment, workspaceName }: Run, action: ManagedAction): void =>
  checkUnmanaged(
    { name: workspaceName, ...(environment ? { managedBy: 'an environment or a template' } : {}) },
    action,
  );

/** Confirming a stale saved plan discards it. */
const apply = async (context: Context<Run>): Promise<Answer> => {
  const { subject } = context;
  checkNoBuild(subject, 'confirm or discard a build');
  const workspace = subject.savePlan ? await getWorkspace(subject.workspaceId) : undefined;
  if (workspace && isStale(subject, workspace)) {
    await discardStale(subject.id);
    throw conflict(
      `The state of workspace ${workspace.name} has changed since the plan of run ${subject.id} was saved, so it can no longer be applied. Plan again.`,
      'transition not allowed',
    );
  }
  return act('confirmed', applyRun)(context);
};

const discard = (context: Context<Run>): Promise<Answer> => {
  checkNoBuild(context.subject, 'confirm or discard a build');
  return act('discarded', discardRun)(context);
};

const cancel = async (context: Context<Run>): Promise<Answer> => {
  const { subject, granted, principal } = context;
  checkNoBuild(subject, 'cancel a build');
  if (!mayCancel(granted, subject, principal.userId)) {
    throw forbidden(
      'Canceling this run needs the permission run:apply; with run:plan you can cancel your own plan-only runs.',
    );
  }
  return act('canceled', cancelRun)(context);
};

const refusals: Record<Exclude<ForceExecuteResult, 'accepted'>, (run: Run) => ApiError> = {
  'not pending': ({ id, status }) => forbidden(`Run ${id} is ${status}: only a run that is pending can be executed.`),
  'not behind a run': ({ id, workspaceName }) =>
    forbidden(`Run ${id} does not wait for another run: workspace ${workspaceName} is free.`),
  'not discardable': ({ id }) =>
    conflict(`The run ahead of ${id} does not await a decision, so it cannot be discarded.`),
};

const forceExecute = async ({ request, subject, principal }: Context<Run>): Promise<Answer> => {
  checkNoBuild(subject, 'start a run');
  const result = await forceExecuteRun(subject, principal.userId, readComment(request));
  if (result === 'accepted') return accepted();
  throw refusals[result](subject);
};

const base = '/runs/{run}/actions';

export const runActionRoutes: Route[] = [
  route('POST', `${base}/apply`, 'run:apply', run, apply),
  route('POST', `${base}/discard`, 'run:apply', run, discard),
  route('POST', `${base}/cancel`, 'run:plan', run, cancel),
  route('POST', `${base}/force-cancel`, 'run:force-cancel', run, act('force-canceled', forceCancelRun)),
  route('POST', `${base}/force-execute`, 'run:apply', run, forceExecute),
];
