import { conflict } from '#api/errors.ts';
import type { Workspace, WorkspaceChange } from './records.ts';

/**
 * Workspaces that belong to an environment or a template, which control their state, their runs, and the settings of
 * both (decisions/0041). Actions in this table are rejected with 409 and the alternative; all others, such as tags,
 * locks, notifications, run tasks and state sharing, work as in any workspace.
 */
const refusals = {
  change: 'Only its description, Terraform version, tags and state sharing can be changed',
  move: 'Its project is that of its template',
  delete: 'Delete that instead: "coder delete" or "coder templates delete"',
  'start a run': 'Its builds are its runs: use "coder start", "coder stop" or "coder restart"',
  'queue runs by triggers': 'Its builds are its runs: use schedules of the environment',
  'upload a configuration': 'Push a version of the template instead: "coder templates push"',
  'write state': 'Use "coder state push" instead, as an administrator of its template',
  'cancel a build': 'Cancel the build instead, if its template allows it: PATCH /api/v2/workspacebuilds/{id}/cancel',
  'confirm or discard a build': 'Builds are applied automatically; cancel the build instead',
  'set CODER_ variables': 'Builds set all environment variables that begin with CODER_ themselves; use another name',
};

export type ManagedAction = keyof typeof refusals;

/** @throws {ApiError} 409 */
export const checkUnmanaged = (
  { name, managedBy }: Pick<Workspace, 'name' | 'managedBy'>,
  action: ManagedAction,
): void => {
  if (managedBy) throw conflict(`Workspace ${name} belongs to ${managedBy}. ${refusals[action]}.`);
};

const changeable = new Set<keyof WorkspaceChange>([
  'description',
  'terraformVersion',
  'tags',
  'globalRemoteState',
  'projectRemoteState',
]);

/** Clients send unchanged settings back, which is allowed. @throws {ApiError} 409 */
export const checkManagedChange = (workspace: Workspace, change: WorkspaceChange): void => {
  if (!workspace.managedBy) return;
  for (const [key, value] of Object.entries(change)) {
    const before = workspace[key as keyof WorkspaceChange];
    const isSame = JSON.stringify(value ?? null) === JSON.stringify(before ?? null);
    if (!isSame && !changeable.has(key as keyof WorkspaceChange)) checkUnmanaged(workspace, 'change');
  }
};

/** Environment variables that only builds may set. */
export const buildVariable = /^CODER_/i;
