import { type Answer, created, noContent, ok } from '#api/answer.ts';
import { conflict, forbidden, nameTaken } from '#api/errors.ts';
import { checkIfMatch, editorOf, withEtag } from '#api/guard.ts';
import { nameOf } from '#api/naming.ts';
import type { ApiRequest } from '#api/request.ts';
import { type Context, type Method, type Route, route } from '#api/route.ts';
import { withPool } from '#resources/agents/pools/input.ts';
import type { InOrganization } from '#resources/organizations/finder.ts';
import { getOrganization } from '#resources/organizations/records.ts';
import { withVariables, workspaceDocument } from './document.ts';
import { workspace, workspaceByName } from './finder.ts';
import { startHealthTimer } from './health-timer.ts';
import { newWorkspace, noProject, readNewWorkspace, readWorkspaceChange } from './input.ts';
import { checkManagedChange, checkUnmanaged } from './managed.ts';
import { firstQueued } from './queue-entries.ts';
import { createWorkspace, getWorkspace, updateWorkspace, type Workspace, type WorkspaceChange } from './records.ts';

/** Creates, changes and deletes workspaces; routes.ts reads them. */

/** Connects workspaces to repositories (version-control/vcs-repo.ts). */
export interface Connecting<P> {
  /** Checks the requested repository without writing. @throws {ApiError} 422 */
  prepare(
    request: ApiRequest,
    change: WorkspaceChange,
    home: { organization: string; projectId: string; current?: Workspace },
  ): Promise<P | undefined>;
  /** @throws {ApiError} 422 */
  connect(prepared: P, workspaceId: string): Promise<Pick<WorkspaceChange, 'vcsRepo' | 'vcsFollows' | 'vcsMoves'>>;
  /** Undoes the connection of a failed change. */
  abandon(prepared: P, workspace: Workspace, requested: Workspace['vcsRepo']): Promise<void>;
  settle(before: Workspace | undefined, after: Workspace): Promise<void>;
}

const create =
  <P>(connecting: Connecting<P>, deleteWorkspace: DeleteWorkspace) =>
  async ({ request, subject, principal }: Context<InOrganization>): Promise<Answer> => {
    const settings = await readNewWorkspace(request, subject.record);
    const prepared = await connecting.prepare(request, settings, settings);
    const workspace = await withPool(() => createWorkspace(settings));
    if (!workspace) throw nameTaken();
    if (subject.record.assessmentsEnforced && !workspace.assessmentsEnabled) await startHealthTimer(workspace.id);
    const by = principal.userId;
    const connected = prepared ? await connectNew(connecting, prepared, workspace, deleteWorkspace, by) : workspace;
    const granted = await principal.on({ organization: subject.organization, workspace: connected });
    return created(withVariables(workspaceDocument(connected, granted), []));
  };

/** A workspace that cannot be connected to its repository is not created. */
const connectNew = async <P>(
  connecting: Connecting<P>,
  prepared: P,
  workspace: Workspace,
  deleteWorkspace: DeleteWorkspace,
  by: string,
): Promise<Workspace> => {
  try {
    const change = await connecting.connect(prepared, workspace.id);
    const connected = await updateWorkspace(workspace, change, { userId: by });
    if (typeof connected === 'string')
      throw conflict(`Workspace ${workspace.name} was changed at the same time. Try again.`);
    await connecting.settle(undefined, connected);
    return connected;
  } catch (error) {
    await deleteWorkspace(workspace, { by, force: true });
    throw error;
  }
};

/** Moving a workspace needs the permission in both projects. */
const checkMove = async (
  { subject, principal, granted }: Context<Workspace>,
  projectId: string | undefined,
): Promise<void> => {
  if (projectId === undefined || projectId === subject.projectId) return;
  const grantedThere = await principal.on({ organization: subject.organization, project: projectId });
  if (!grantedThere.has('project:read')) throw noProject(projectId, subject.organization);
  if (granted.has('workspace:move') && grantedThere.has('workspace:move')) return;
  throw forbidden(
    `Workspace ${subject.name} cannot be moved: you need the permission workspace:move in both projects.`,
  );
};

const update =
  <P>(connecting: Connecting<P>) =>
  async (context: Context<Workspace>): Promise<Answer> => {
    const { request, subject, granted } = context;
    const change = await readWorkspaceChange(request, { name: subject.organization }, subject);
    await checkMove(context, change.projectId);
    const editor = await editorOf(context, subject, 'workspace');
    const prepared = await connecting.prepare(request, change, { ...subject, current: subject });
    if (prepared) checkUnmanaged(subject, 'change');
    checkManagedChange(subject, change);
    const connection = prepared ? await connecting.connect(prepared, subject.id) : {};
    const all = { ...change, ...connection };
    if (Object.keys(all).length === 0) return withEtag(ok(workspaceDocument(subject, granted)), subject);
    const updated = await withPool(() => updateWorkspace(subject, all, editor));
    if (typeof updated === 'string' && prepared) await connecting.abandon(prepared, subject, connection.vcsRepo);
    if (updated === 'name taken') throw nameTaken();
    if (updated === 'changed meanwhile') {
      await checkIfMatch(request, (await getWorkspace(subject.id)) ?? subject, 'workspace');
      throw conflict(`Workspace ${subject.name} was changed by another request at the same time. Try again.`);
    }
    if (prepared) await connecting.settle(subject, updated);
    return withEtag(ok(workspaceDocument(updated, granted)), updated);
  };

const busy = (subject: Workspace) =>
  conflict(`Workspace ${subject.name} has runs that have not ended. Cancel or discard them first.`);

/** Only owners delete a workspace that manages resources, unless the organization allows its admins to. */
const checkForce = async ({ subject, granted }: Context<Workspace>): Promise<void> => {
  if (!subject.state?.resources || granted.has('workspace:force-delete')) return;
  const home = await getOrganization(subject.organization);
  if (home?.allowForceDeleteWorkspaces) return;
  throw forbidden(
    `Workspace ${subject.name} still manages ${subject.state.resources} resources: only owners of ${nameOf(subject.organization)} can delete it. Destroy them first.`,
  );
};

/** False when it has unfinished runs and `force` is not set (removal/workspaces.ts). */
type DeleteWorkspace = (
  workspace: Workspace,
  options: { by: string; force?: boolean; recoverable?: boolean },
) => Promise<boolean>;

const remove =
  (deleteWorkspace: DeleteWorkspace) =>
  async (context: Context<Workspace>): Promise<Answer> => {
    const { subject, principal } = context;
    checkUnmanaged(subject, 'delete');
    await checkForce(context);
    await deleteWorkspace(subject, { by: principal.userId, force: true, recoverable: true });
    return noContent();
  };

/** Clients match the words "locked" and "being processed" in the error. */
const safeDelete =
  (deleteWorkspace: DeleteWorkspace) =>
  async ({ subject, principal }: Context<Workspace>): Promise<Answer> => {
    checkUnmanaged(subject, 'delete');
    const queued = await firstQueued(subject.id);
    // No user can unlock a workspace that a run holds: the run has to end.
    if (queued && subject.lock?.kind !== 'user') throw busy(subject);
    if (subject.lock) throw conflict(`Workspace ${subject.name} is locked. Unlock it first.`);
    if (subject.state?.resources) {
      throw conflict(
        `Workspace ${subject.name} still manages ${subject.state.resources} resources. Destroy them first, or delete the workspace with force.`,
      );
    }
    if (!(await deleteWorkspace(subject, { by: principal.userId, recoverable: true }))) throw busy(subject);
    return noContent();
  };

const both = (
  method: Method,
  end: string,
  permission: 'workspace:update' | 'workspace:delete',
  handle: (context: Context<Workspace>) => Promise<Answer>,
): Route[] => [
  route(method, `/workspaces/{workspace}${end}`, permission, workspace, handle),
  route(method, `/organizations/{organization}/workspaces/{name}${end}`, permission, workspaceByName, handle),
];

export const workspaceSettingRoutes = <P>(deleteWorkspace: DeleteWorkspace, connecting: Connecting<P>): Route[] => [
  route(
    'POST',
    '/organizations/{organization}/workspaces',
    'workspace:create',
    newWorkspace,
    create(connecting, deleteWorkspace),
  ),
  ...both('PATCH', '', 'workspace:update', update(connecting)),
  ...both('DELETE', '', 'workspace:delete', remove(deleteWorkspace)),
  ...both('POST', '/actions/safe-delete', 'workspace:delete', safeDelete(deleteWorkspace)),
];
