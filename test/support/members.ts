import type { Role } from '#api/permissions/granted.ts';
import type { OrganizationFlag } from '#api/permissions/organization-flags.ts';
import { workspaceParts } from '#api/permissions/permissions.ts';
import type { ProjectGrant } from '#api/permissions/team-access.ts';

export type Level = 'read' | 'plan' | 'write' | 'admin';

/** The project access that is equivalent to the level on every workspace of the project. */
const onItsWorkspaces = (level: Level): Omit<ProjectGrant, 'id'> =>
  level === 'admin'
    ? { access: 'maintain' }
    : {
        access: 'custom',
        parts: {
          settings: 'read',
          teams: 'none',
          'variable-sets': 'none',
          create: false,
          move: false,
          delete: false,
          workspaces: workspaceParts[level],
        },
      };

/** Test files that share a platform and its organization run in separate processes. */
let teams = 0;

/** Helpers for tests of permissions, which use the store directly. */
export const memberHelpers = async () => {
  const { addMember, joinTeam } = await import('#resources/users/memberships.ts');
  const { getOrganization } = await import('#resources/organizations/records.ts');
  const { grant } = await import('#resources/teams/grants.ts');
  const { createTeam } = await import('#resources/teams/records.ts');
  const { createToken } = await import('#resources/users/tokens.ts');
  const { createUser } = await import('#resources/users/users.ts');
  const { getProject } = await import('#resources/projects/records.ts');

  const newUser = async (username: string) => {
    const { id } = await createUser({ username, email: `${username}@b.test` });
    return { id, token: (await createToken(id, '')).secret };
  };

  /** A member of the organization, in a team of their own. */
  const inTeam = async (organization: string, username: string, organizationAccess: OrganizationFlag[]) => {
    const user = await newUser(username);
    await addMember(organization, user.id, 'member');
    const team = await createTeam(organization, { name: `team-${process.pid}-${++teams}`, organizationAccess });
    if (!team) throw new Error('no team');
    await joinTeam(team, user.id);
    return { ...user, team };
  };

  const acting = async (organization: string, role: Role) => {
    const user = await newUser(role);
    await addMember(organization, user.id, role);
    return user;
  };

  return {
    newUser,
    withFlags: (organization: string, ...flags: OrganizationFlag[]) =>
      inTeam(organization, `member-${flags.join('-')}`, flags),
    /** A member without a team. */
    member: async (organization: string) => {
      const user = await newUser('member');
      await addMember(organization, user.id, 'member');
      return user;
    },
    owner: async (organization: string) => acting(organization, 'owner'),
    acting,
    /** A member whose team has that level on the workspaces of the default project. */
    withLevel: async (organization: string, level: Level) => {
      const user = await inTeam(organization, `member-${level}`, []);
      const home = await getOrganization(organization);
      const project = await getProject(home?.defaultProjectId ?? '');
      if (!project || !(await grant({ project }, user.team.id, onItsWorkspaces(level)))) throw new Error('no grant');
      return user;
    },
  };
};
