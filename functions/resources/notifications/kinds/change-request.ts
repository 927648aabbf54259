import { environment } from '#platform/environment.ts';
import { currentName } from '#resources/organizations/records.ts';
import { getProject } from '#resources/projects/records.ts';
import { getTeams } from '#resources/teams/records.ts';
import type { Team } from '#resources/teams/team.ts';
import { getUsers } from '#resources/users/users.ts';
import { getWorkspace, type Workspace } from '#resources/workspaces/records.ts';
import { type ChangeRequestEvent, changeRequestMessage } from '#run/notifications/change-request.ts';
import { teamTriggers } from '#run/notifications/kinds.ts';
import { announce, wanting } from '../announce.ts';
import { listNotifications } from '../records.ts';

/** Teams with access to the workspace or its project. */
const teamsOf = async ({ teamAccess, projectId }: Workspace): Promise<Team[]> => {
  const project = await getProject(projectId);
  return getTeams([...new Set([...Object.keys(teamAccess ?? {}), ...Object.keys(project?.teamAccess ?? {})])]);
};

export const announceChangeRequest = async (event: ChangeRequestEvent): Promise<void> => {
  const { id, workspaceId, changeRequest } = event;
  const workspace = await getWorkspace(workspaceId);
  if (!workspace) return;
  const configurations = await listNotifications(...(await teamsOf(workspace)));
  const interested = wanting(configurations, ...teamTriggers);
  if (interested.length === 0) return;
  const shown = { ...workspace, organization: await currentName(workspace.organization) };
  const [author] = await getUsers([changeRequest.createdBy]);
  const facts = { createdBy: author?.username ?? changeRequest.createdBy, baseUrl: environment.publicUrl };
  await announce(interested, {
    trigger: 'change_request:created',
    status: changeRequest.id,
    aboutId: workspaceId,
    eventId: id,
    message: (configurationId) => changeRequestMessage(changeRequest, shown, { ...facts, configurationId }),
  });
};
