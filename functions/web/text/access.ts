import type { OrganizationFlag } from '../../api/permissions/organization-flags.ts';
import type { ProjectLevel, WorkspaceLevel } from '../../api/permissions/team-access.ts';
import type { Option } from '../parts/form.tsx';

/** What teams may do, in words. */

type Flagged = readonly [flag: OrganizationFlag, label: string, hint?: string];

/** Those that mean something here: there are no registries and version control connections. */
export const organizationFlags: readonly Flagged[] = [
  ['read-workspaces', 'See all workspaces', 'Their runs, variables and states.'],
  ['manage-workspaces', 'Manage all workspaces', 'Make, change, apply and delete them, and variable sets.'],
  ['read-projects', 'See all projects'],
  ['manage-projects', 'Manage all projects', 'And the workspaces in them.'],
  ['manage-policies', 'Manage policies'],
  ['manage-policy-overrides', 'Override policies', 'Let runs go on although mandatory policies failed.'],
  [
    'delegate-policy-overrides',
    'Override policies where access says so',
    'Access to a workspace or project may then include it.',
  ],
  ['manage-run-tasks', 'Manage run tasks'],
  ['manage-agent-pools', 'Manage agent pools', 'On whose machines runs of workspaces run, and their tokens.'],
  ['manage-membership', 'Manage members', 'Invite and remove people, put them into teams.'],
  ['manage-teams', 'Manage teams', 'Make, change and delete them, and their tokens.'],
  ['manage-organization-access', 'Say what teams may do in the organization'],
  ['access-secret-teams', 'See secret teams'],
];

export const workspaceLevels: readonly (readonly [WorkspaceLevel, string])[] = [
  ['read', 'Read: see runs, variables and states'],
  ['plan', 'Plan: also queue plans'],
  ['write', 'Write: also apply, change variables, lock'],
  ['admin', 'Admin: everything, also settings and access'],
  ['custom', 'Custom'],
];

export const projectLevels: readonly (readonly [ProjectLevel, string])[] = [
  ['read', 'Read: see its workspaces'],
  ['write', 'Write: also apply in them, and variable sets'],
  ['maintain', 'Maintain: also make and delete workspaces'],
  ['admin', 'Admin: everything, also settings and access'],
  ['custom', 'Custom'],
];

interface Part {
  name: string;
  label: string;
  options: readonly Option[];
}

const part = (name: string, label: string, ...options: Option[]): Part => ({ name, label, options });

/** Parts of a custom level that concern a workspace; the first option is the least. */
export const workspaceParts: readonly Part[] = [
  part('runs', 'Runs', ['read', 'see'], ['plan', 'see and plan'], ['apply', 'see, plan and apply']),
  part('variables', 'Variables', ['none', 'nothing'], ['read', 'see'], ['write', 'see and change']),
  part(
    'state-versions',
    'States',
    ['none', 'nothing'],
    ['read-outputs', 'outputs only'],
    ['read', 'see'],
    ['write', 'see and write'],
  ),
];

export const projectParts: readonly Part[] = [
  part('settings', 'The project itself', ['read', 'see'], ['update', 'change'], ['delete', 'change and delete']),
  part('teams', 'Access of teams', ['none', 'nothing'], ['read', 'see'], ['manage', 'manage']),
  part('variable-sets', 'Variable sets', ['none', 'nothing'], ['read', 'see'], ['write', 'see and change']),
];

export const workspaceSwitches: readonly Option[] = [
  ['workspace-locking', 'Lock and unlock'],
  ['run-tasks', 'Manage run tasks'],
];

export const projectSwitches: readonly Option[] = [
  ['create', 'Make workspaces'],
  ['move', 'Move workspaces'],
  ['delete', 'Delete workspaces'],
];
