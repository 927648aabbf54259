import { type Content, type Document, versionOf } from '../protocol/answers.ts';
import { urns } from '../protocol/urns.ts';
import { getScimUsers, type ScimUser } from '../users/records.ts';
import { memberIdsOfEach } from './members.ts';
import type { GroupTeam } from './records.ts';

const documentOf = (
  { id, scim }: GroupTeam,
  memberIds: string[],
  users: ReadonlyMap<string, ScimUser> | undefined,
  base: string,
): Document => {
  const { displayName, externalId, createdAt, updatedAt } = scim;
  const content: Content = {
    schemas: [urns.group],
    id,
    ...(externalId === undefined ? {} : { externalId }),
    displayName,
  };
  const members = memberIds.flatMap((value) => {
    const user = users?.get(value);
    return user ? [{ value, display: user.userName, $ref: `${base}/Users/${value}`, type: 'User' }] : [];
  });
  return {
    ...content,
    ...(users ? { members } : {}),
    meta: {
      resourceType: 'Group',
      created: createdAt,
      lastModified: updatedAt,
      location: `${base}/Groups/${id}`,
      version: versionOf({ ...content, memberIds }),
    },
  };
};

/** 1 read per 100 groups, and with their members 1 per 100 of those. */
export const groupDocuments = async (groups: GroupTeam[], base: string, withMembers: boolean): Promise<Document[]> => {
  const members = await memberIdsOfEach(groups);
  const users = withMembers
    ? new Map((await getScimUsers([...new Set(members.flat())])).map((user) => [user.id, user]))
    : undefined;
  return groups.map((group, i) => documentOf(group, members[i] ?? [], users, base));
};
