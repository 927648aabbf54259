import { type Answer, accepted, json } from '#api/answer.ts';
import { type ApiError, conflict, forbidden } from '#api/errors.ts';
import { mayCancel } from '#api/permissions/reported-permissions.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { readComment } from '#api/validation.ts';
import { type ForceExecuteResult, forceExecuteRun } from '#lifecycle/queue/force-execute.ts';
import { run } from '#resources/runs/finder.ts';
import { discardStale, isStale } from '#resources/runs/saved-plans.ts';
import { checkUnmanaged, type ManagedAction } from '#resources/workspaces/managed.ts';
import { getWorkspace } from '#resources/workspaces/records.ts';
import { type Decision, runActions } from '#run/actions.ts';
import type { Run } from '#run/run.ts';
import type { DirectAction } from '#run/status.ts';
import { decide } from './decisions.ts';

type Act = (context: Context<Run>) => Promise<Answer>;

const act =
  (action: Decision): Act =>
  async ({ request, subject, principal }) => {
    const result = await decide(subject, action, principal.userId, readComment(request));
    if (result === 'accepted') {
      const message = runActions[action].description?.(subject);
      return message ? json(202, { meta: { message } }) : accepted();
    }
    const past = runActions[action].event.replace('_', '-');
    throw conflict(
      `Run ${subject.id} is ${subject.status} and cannot be ${past} now. See its "actions" for the allowed ones.`,
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
const apply: Act = async (context) => {
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
  return act('apply')(context);
};

const discard: Act = (context) => {
  checkNoBuild(context.subject, 'confirm or discard a build');
  return act('discard')(context);
};

const cancel: Act = async (context) => {
  const { subject, granted, principal } = context;
  checkNoBuild(subject, 'cancel a build');
  if (!mayCancel(granted, subject, principal.userId)) {
    throw forbidden(
      'Canceling this run needs the permission run:apply; with run:plan you can cancel your own plan-only runs.',
    );
  }
  return act('cancel')(context);
};

const refusals: Record<Exclude<ForceExecuteResult, 'accepted'>, (run: Run) => ApiError> = {
  'not pending': ({ id, status }) => forbidden(`Run ${id} is ${status}: only a run that is pending can be executed.`),
  'not behind a run': ({ id, workspaceName }) =>
    forbidden(`Run ${id} does not wait for another run: workspace ${workspaceName} is free.`),
  'not discardable': ({ id }) =>
    conflict(`The run ahead of ${id} does not await a decision, so it cannot be discarded.`),
};

const forceExecute: Act = async ({ request, subject, principal }) => {
  checkNoBuild(subject, 'start a run');
  const result = await forceExecuteRun(subject, principal.userId, readComment(request));
  if (result === 'accepted') return accepted();
  throw refusals[result](subject);
};

const handlers: Record<DirectAction, Act> = {
  apply,
  discard,
  cancel,
  'force-cancel': act('force-cancel'),
  'force-execute': forceExecute,
};

export const runActionRoutes: Route[] = (Object.keys(handlers) as DirectAction[]).map((action) =>
  route('POST', `/runs/{run}/actions/${action}`, runActions[action].permission, run, handlers[action]),
);
