import type { Permission } from '#api/permissions/permissions.ts';
import type { Finder } from '#api/route.ts';
import { getTeam } from '#resources/teams/records.ts';
import type { Team } from '#resources/teams/team.ts';
import { type Trigger, teamTriggers, triggers } from '#run/notifications/kinds.ts';
import { getNotification, type NotificationConfiguration } from './records.ts';

/** Owner of a notification configuration: a workspace, project or team, which determines permissions and triggers. */

type OwnerType = 'workspaces' | 'projects' | 'teams';

type Owned = Pick<NotificationConfiguration, 'workspaceId' | 'projectId' | 'teamId'>;

export const ownerOf = ({ workspaceId, projectId, teamId }: Owned): { type: OwnerType; id: string } =>
  workspaceId
    ? { type: 'workspaces', id: workspaceId }
    : projectId
      ? { type: 'projects', id: projectId }
      : { type: 'teams', id: teamId ?? '' };

const triggersOf: Record<OwnerType, readonly Trigger[]> = {
  workspaces: triggers,
  projects: triggers,
  teams: teamTriggers,
};

/** In the order of documents. */
export const triggersFor = (owned: Owned): readonly Trigger[] => triggersOf[ownerOf(owned).type];

const seeing: Record<OwnerType, Permission> = {
  workspaces: 'workspace:read',
  projects: 'project:read',
  teams: 'team:read',
};
/** HCP API: notification configurations; administrators of the workspace or project, and users who manage teams. */
const changing: Record<OwnerType, Permission> = {
  workspaces: 'workspace:update',
  projects: 'project:update',
  teams: 'team:write',
};

/** With its team, because a secret team is visible only to some callers. */
export type FoundNotification = NotificationConfiguration & { team?: Team };

export const notification: Finder<FoundNotification> = {
  what: 'notification configuration',
  parameter: 'notification',
  find: async ({ params }) => {
    const configuration = await getNotification(params.notification ?? '');
    if (!configuration?.teamId) return configuration;
    const team = await getTeam(configuration.teamId);
    return team && { ...configuration, team };
  },
  visibleWith: (configuration) => seeing[ownerOf(configuration).type],
  needs: (configuration) => changing[ownerOf(configuration).type],
  scope: ({ organization, workspaceId, projectId, team }) => ({
    organization,
    ...(team ? { team } : workspaceId ? { workspace: workspaceId } : { project: projectId }),
  }),
};
