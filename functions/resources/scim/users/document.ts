import { getTeams } from '#resources/teams/records.ts';
import { getMemberships, type Membership } from '#resources/users/memberships.ts';
import { type Content, type Document, versionOf } from '../protocol/answers.ts';
import { urns } from '../protocol/urns.ts';
import type { ScimUser } from './records.ts';

/** Users as the directory sees them. A user is active while a membership of the organization links to them. */

export const isActive = (user: Pick<ScimUser, 'id'>, membership: Membership | undefined): boolean =>
  membership?.scim?.id === user.id;

interface Shown {
  user: ScimUser;
  active: boolean;
  groups: { id: string; name: string }[];
}

/** @param base URL of the configuration's endpoints */
const documentOf = ({ user, active, groups }: Shown, base: string): Document => {
  const { id, externalId, userName, displayName, name, emails, createdAt, updatedAt } = user;
  const content: Content = {
    schemas: [urns.user],
    id,
    externalId,
    userName,
    displayName,
    name,
    emails,
    active,
    groups: groups.map((group) => ({
      value: group.id,
      display: group.name,
      $ref: `${base}/Groups/${group.id}`,
      type: 'direct',
    })),
  };
  const location = `${base}/Users/${id}`;
  return {
    ...content,
    meta: {
      resourceType: 'User',
      created: createdAt,
      lastModified: updatedAt,
      location,
      version: versionOf(content),
    },
  };
};

/** 1 read per 100 users, and 1 per 100 of their groups. */
export const userDocuments = async (users: ScimUser[], organization: string, base: string): Promise<Document[]> => {
  const linked = users.flatMap(({ userId }) => (userId === undefined ? [] : [userId]));
  const memberships = new Map(
    (await getMemberships(organization, linked)).map((membership) => [membership.userId, membership]),
  );
  const teamIds = [...new Set(users.flatMap(({ groups = [] }) => [...groups]))];
  const teams = new Map((await getTeams(teamIds)).map((team) => [team.id, team]));
  return users.map((user) => {
    const groups = [...(user.groups ?? [])].sort().flatMap((id) => {
      const group = teams.get(id)?.scim;
      return group ? [{ id, name: group.displayName }] : [];
    });
    return documentOf({ user, active: isActive(user, memberships.get(user.userId ?? '')), groups }, base);
  });
};
