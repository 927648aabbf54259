import { organizationToken } from '#api/permissions/organization-token.ts';
import {
  flagPermissions,
  inTeam,
  member,
  ofProjectGrant,
  ofWorkspaceGrant,
  overridePermissions,
  type Permission,
  type Permissions,
  permissions,
  projectPartPermissions,
  workspacePartPermissions,
} from '#api/permissions/permissions.ts';

/** The table of permissions (functions/api/permissions/permissions.ts) as Markdown. */

const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');
const row = (...cells: string[]): string => `| ${cells.join(' | ')} |`;
const table = (head: string[], rows: string[][]): string =>
  [row(...head), row(...head.map(() => '---')), ...rows.map((cells) => row(...cells))].join('\n');

type Values = Record<string, Record<string, Permissions>>;

/** The smallest value of each part of a custom level that includes the permission. */
const partsOf = (gives: object, permission: Permission): string[] =>
  Object.entries(gives as Values).flatMap(([part, values]) => {
    const value = Object.keys(values).find((one) => values[one]?.includes(permission));
    if (value === undefined) return [];
    return value === 'true' ? `\`${part}\`` : `\`${part}\`: ${value}`;
  });

/** One row per set of permissions with the same levels and parts. */
const byLevel = (levels: Record<string, Permissions>, gives: object): string[][] => {
  const rows = new Map<string, { names: string[]; cells: string[] }>();
  for (const permission of permissions) {
    const marks = Object.values(levels).map((granted) => (granted.includes(permission) ? '✓' : ''));
    const cells = [...marks, partsOf(gives, permission).join(' or ')];
    if (!cells.some(Boolean)) continue;
    const row = rows.get(cells.join('|')) ?? { names: [], cells };
    row.names.push(permission);
    rows.set(cells.join('|'), row);
  }
  return [...rows.values()].map(({ names, cells }) => [code(names), ...cells]);
};

const workspaceLevels = ['read', 'plan', 'write', 'admin'] as const;
const projectLevels = ['read', 'write', 'maintain', 'admin'] as const;

const onWorkspace = (): string =>
  table(
    ['on a workspace', ...workspaceLevels, 'custom'],
    byLevel(
      Object.fromEntries(workspaceLevels.map((access) => [access, ofWorkspaceGrant({ access })])),
      workspacePartPermissions,
    ),
  );

/** The other table has the permissions on workspaces. */
const onProject = (): string => {
  const own = new Set<Permission>(
    Object.values(projectPartPermissions).flatMap((values) => Object.values(values).flat()),
  );
  const only = (granted: Permissions) => granted.filter((permission) => own.has(permission));
  return table(
    ['on a project', ...projectLevels, 'custom'],
    byLevel(
      Object.fromEntries(projectLevels.map((access) => [access, only(ofProjectGrant({ access }))])),
      projectPartPermissions,
    ),
  );
};

const workspaceSets = workspaceLevels.map((access) => ({ access, given: ofWorkspaceGrant({ access }) })).reverse();

/** Shortens a list to the name of a level, to keep rows readable. */
const shortened = (granted: Permissions): string => {
  const level = workspaceSets.find((one) => one.given.every((permission) => granted.includes(permission)));
  const rest = [...new Set(granted)].filter((permission) => !level?.given.includes(permission));
  return [...(level ? [`${level.access} on workspaces`] : []), ...(rest.length ? [code(rest)] : [])].join(', ');
};

const inOrganization = (): string =>
  table(
    ['in an organization', 'on itself', 'on everything in it'],
    [
      ['being a member', code(member), ''],
      ['being in a team', code(inTeam.filter((permission) => !member.includes(permission))), ''],
      ...Object.entries(flagPermissions).map(([flag, { organization = [], everywhere = [] }]) => [
        `\`${flag}\``,
        code(organization),
        shortened(everywhere),
      ]),
    ],
  );

const byNobodyElse = (): Permission[] => {
  const granted = new Set<Permission>([
    ...inTeam,
    ...overridePermissions,
    ...ofProjectGrant({ access: 'admin' }),
    ...Object.values(flagPermissions).flatMap(({ organization = [], everywhere = [] }) => [
      ...organization,
      ...everywhere,
    ]),
  ]);
  return permissions.filter((permission) => !granted.has(permission));
};

const notByOrganization = permissions.filter((permission) => !organizationToken.includes(permission));

export const permissionTables = (): string =>
  [
    onWorkspace(),
    onProject(),
    inOrganization(),
    `Access to a workspace or project can include \`policy-overrides\`: it grants ${code(overridePermissions)} to a team with the flag \`delegate-policy-overrides\`. Owners have every permission; only they have ${code(byNobodyElse())}. The organization token has every permission except ${code(notByOrganization)}.`,
  ].join('\n\n');
