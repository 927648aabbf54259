import type { OrganizationFlag } from '#api/permissions/organization-flags.ts';
import type { Permission } from '#api/permissions/permissions.ts';
import type { ProjectLevel, WorkspaceLevel } from '#api/permissions/team-access.ts';
import type { Option } from '../parts/fields.tsx';

/** Names and explanations of team permissions. */

type Flagged = readonly [flag: OrganizationFlag, label: string, hint?: string];

/** The organization permissions that the page offers. */
export const organizationFlags: readonly Flagged[] = [
  ['read-workspaces', 'See all workspaces', 'Their runs, variables and states.'],
  ['manage-workspaces', 'Manage all workspaces', 'Create, change, apply and delete them, and manage variable sets.'],
  ['read-projects', 'See all projects'],
  ['manage-projects', 'Manage all projects', 'Including their workspaces.'],
  ['manage-policies', 'Manage policies'],
  ['manage-policy-overrides', 'Override policies', 'Let runs continue after mandatory policies fail.'],
  [
    'delegate-policy-overrides',
    'Delegate policy overrides',
    'Access to a workspace or project can then include overrides.',
  ],
  ['manage-run-tasks', 'Manage run tasks'],
  ['manage-agent-pools', 'Manage agent pools', 'Create, change and delete them, and their tokens.'],
  ['manage-membership', 'Manage members', 'Invite and remove users, assign them to teams.'],
  ['manage-teams', 'Manage teams', 'Create, change and delete them, and their tokens.'],
  ['manage-organization-access', 'Manage organization access of teams'],
  ['access-secret-teams', 'See secret teams'],
];

export const workspaceLevels: readonly (readonly [WorkspaceLevel, string])[] = [
  ['read', 'Read: view runs, variables and states'],
  ['plan', 'Plan: Read, and queue plans'],
  ['write', 'Write: Plan, and apply, change variables, lock'],
  ['admin', 'Admin: full access, including settings and team access'],
  ['custom', 'Custom'],
];

export const projectLevels: readonly (readonly [ProjectLevel, string])[] = [
  ['read', 'Read: view its workspaces'],
  ['write', 'Write: Read, and apply runs, manage variable sets'],
  ['maintain', 'Maintain: Write, and create and delete workspaces'],
  ['admin', 'Admin: full access, including settings and team access'],
  ['custom', 'Custom'],
];

interface Part {
  name: string;
  label: string;
  options: readonly Option[];
}

const part = (name: string, label: string, ...options: Option[]): Part => ({ name, label, options });

/** Permissions of a custom level for a workspace. The options of each are ordered from least to most. */
export const workspaceParts: readonly Part[] = [
  part('runs', 'Runs', ['read', 'read'], ['plan', 'plan'], ['apply', 'apply']),
  part('variables', 'Variables', ['none', 'no access'], ['read', 'read'], ['write', 'write']),
  part(
    'state-versions',
    'States',
    ['none', 'no access'],
    ['read-outputs', 'read outputs only'],
    ['read', 'read'],
    ['write', 'write'],
  ),
];

export const projectParts: readonly Part[] = [
  part('settings', 'Project settings', ['read', 'read'], ['update', 'update'], ['delete', 'delete']),
  part('teams', 'Team access', ['none', 'no access'], ['read', 'read'], ['manage', 'manage']),
  part('variable-sets', 'Variable sets', ['none', 'no access'], ['read', 'read'], ['write', 'write']),
];

export const workspaceSwitches: readonly Option[] = [
  ['workspace-locking', 'Lock and unlock'],
  ['run-tasks', 'Manage run tasks'],
];

export const projectSwitches: readonly Option[] = [
  ['create', 'Create workspaces'],
  ['move', 'Move workspaces'],
  ['delete', 'Delete workspaces'],
];

/** What reviewers ask for. */
export const askedPermissions: readonly (readonly [Permission, string])[] = [
  ['run:apply', 'Apply runs'],
  ['run:override-policy', 'Override policies'],
  ['run:plan', 'Queue plans'],
  ['variable:write', 'Change variables'],
  ['state:read', 'Read states'],
  ['state:write', 'Write states'],
  ['workspace:update', 'Change settings'],
  ['workspace:delete', 'Delete the workspace'],
];

/** `run: read, plan, apply · variable: read` */
export const permissionsText = (permissions: readonly string[]): string => {
  const parts = permissions.map((permission) => permission.split(':') as [string, string]);
  const bySubject = Map.groupBy(parts, ([subject]) => subject);
  return [...bySubject]
    .map(
      ([subject, all]) =>
        `${subject.replaceAll('-', ' ')}: ${all.map(([, verb]) => verb.replaceAll('-', ' ')).join(', ')}`,
    )
    .join(' · ');
};
