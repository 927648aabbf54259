import * as v from 'valibot';
import { type Answer, noContent } from '#api/answer.ts';
import { conflict, forbidden, unprocessable } from '#api/errors.ts';
import { nameOf } from '#api/naming.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { identifier, readWhole } from '#api/validation.ts';
import { withPool } from '#resources/agents/pools/input.ts';
import { executionIn } from '#resources/projects/execution-modes.ts';
import { project } from '#resources/projects/finder.ts';
import type { Project } from '#resources/projects/records.ts';
import { checkOverrides } from '#resources/tags/reserved-keys/overrides.ts';
import { settleAgentPool } from './agent-pool-input.ts';
import { checkUnmanaged } from './managed.ts';
import { notifiesIn } from './project-notifies.ts';
import { getWorkspaces, updateWorkspace, type Workspace, type WorkspaceChange } from './records.ts';

/** Moves workspaces into a project. */

const maxMoved = 100;
const moved = v.object({
  data: v.pipe(v.array(identifier('workspaces')), v.maxLength(maxMoved, `may have at most ${maxMoved} at once`)),
});

/** A workspace that inherits its auto-destroy duration takes the new project's. */
const autoDestroyIn = (
  { autoDestroyActivityDuration: duration = null }: Project,
  { inheritsAutoDestroy = true, managedBy, autoDestroyActivityDuration }: Workspace,
): WorkspaceChange =>
  inheritsAutoDestroy && !managedBy && duration !== (autoDestroyActivityDuration ?? null)
    ? { autoDestroyActivityDuration: duration, inheritsAutoDestroy: true, autoDestroyStatus: null }
    : {};

/** Whether the project may use the workspace's version control connection (version-control/vcs-repo.ts). */
export type MayFollow = (workspace: Workspace, projectId: string) => Promise<boolean>;

/** @throws {ApiError} 422 */
const checkConnections = async (workspaces: Workspace[], { id, name }: Project, mayFollow: MayFollow) => {
  for (const [i, workspace] of workspaces.entries()) {
    if (workspace.projectId === id || !workspace.vcsRepo || (await mayFollow(workspace, id))) continue;
    throw unprocessable(
      `/data/${i}/id`,
      `id: workspace ${workspace.name} follows its repository by an OAuth client that is not for project ${name}. Disconnect it first, or add the project to the client`,
    );
  }
};

/** Moves all of them, or none when one is missing or cannot move. */
const move = async ({ request, subject, principal }: Context<Project>, mayFollow: MayFollow): Promise<Answer> => {
  const ids = [...new Set(readWhole(request, moved).data.map(({ id }) => id))];
  const byId = new Map((await getWorkspaces(ids)).map((workspace) => [workspace.id, workspace]));
  const granted = await principal.onWorkspaces(subject.organization, [...byId.values()]);
  const workspaces = ids.map((id, i): Workspace => {
    const workspace = byId.get(id);
    if (workspace?.organization !== subject.organization || !granted(id).has('workspace:read')) {
      throw unprocessable(`/data/${i}/id`, `id: workspace ${id} not found in ${nameOf(subject.organization)}`);
    }
    if (workspace.projectId !== subject.id) checkUnmanaged(workspace, 'move');
    if (workspace.projectId === subject.id || granted(id).has('workspace:move')) return workspace;
    throw forbidden(
      `Workspace ${workspace.name} cannot be moved out of its project: you need the permission workspace:move there.`,
    );
  });
  for (const { tags, projectId } of workspaces) {
    if (projectId !== subject.id)
      await checkOverrides(subject.organization, { requested: tags, inherited: subject.tags });
  }
  await checkConnections(workspaces, subject, mayFollow);
  const changes = workspaces.map(
    (workspace): WorkspaceChange => ({
      projectId: subject.id,
      ...(workspace.inheritsExecutionMode ? executionIn(subject) : {}),
      ...autoDestroyIn(subject, workspace),
      ...notifiesIn(subject, workspace),
    }),
  );
  await Promise.all(workspaces.map((workspace, i) => settleAgentPool(changes[i] as WorkspaceChange, workspace)));
  for (const [i, workspace] of workspaces.entries()) {
    const change = changes[i] as WorkspaceChange;
    const updated = await withPool(() => updateWorkspace(workspace, change, { userId: principal.userId }));
    if (typeof updated === 'string') {
      throw conflict(`Workspace ${workspace.name} was changed by another request at the same time. Try again.`);
    }
  }
  return noContent();
};

export const workspaceMoveRoutes = (mayFollow: MayFollow): Route[] => [
  route('POST', '/projects/{project}/relationships/workspaces', 'workspace:move', project, (context) =>
    move(context, mayFollow),
  ),
];
