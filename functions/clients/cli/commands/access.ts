import { type Resource, related } from '#clients/client/client.ts';
import { type Call, type Command, ofWorkspace } from '../arguments.ts';
import { CommandError, exit } from '../exit.ts';
import { bold, dim, plain } from '../paint.ts';
import type { Session } from '../session.ts';
import { ofList, printList } from '../table.ts';

const pathOf = async (session: Session): Promise<string> =>
  `/organizations/${encodeURIComponent(await session.organization())}`;

/** Id of the member with this username or address. @throws {CommandError} */
const findMember = async (session: Session, name: string): Promise<string> => {
  const path = `${await pathOf(session)}/organization-memberships?include=user&q=${encodeURIComponent(name)}`;
  const { data, included } = await session.client.some(path, 1000);
  const users = new Map(included.map((user) => [user.id, user.attributes.username]));
  const found = data.find(
    (membership) => membership.attributes.email === name || users.get(related(membership, 'user') ?? '') === name,
  );
  if (!found)
    throw new CommandError(`No member is named ${name}. Give a username or an e-mail address.`, exit.notFound);
  return related(found, 'user') ?? '';
};

/** Of one user everywhere or in the workspace; without a user, of all who can apply the workspace's runs. */
const filterOf = async (call: Call, session: Session): Promise<URLSearchParams> => {
  const user = call.text('user');
  const filter = new URLSearchParams();
  if (user !== undefined) filter.set('filter[user][id]', await findMember(session, user));
  if (user === undefined || call.text('workspace') !== undefined) {
    filter.set('filter[workspace][id]', (await session.workspace()).id);
  }
  const permission = call.text('permission') ?? (user === undefined ? 'run:apply' : undefined);
  if (permission !== undefined) filter.set('filter[permission]', permission);
  return filter;
};

export const access: Command = {
  name: 'access',
  about: 'List users and teams with a permission on a workspace, or the access of one user',
  options: {
    ...ofWorkspace,
    user: { about: 'access of this member, everywhere or in the workspace', value: 'name' },
    permission: { about: 'another permission than run:apply, e.g. state:read', value: 'name' },
    ...ofList,
  },
  run: async (call, session) => {
    const path = `${await pathOf(session)}/access-report?${await filterOf(call, session)}`;
    const { data } = await session.client.some(path, 10_000);
    const cells = (entry: Resource): string[] => [
      entry.attributes['holder-name'],
      related(entry, 'holder')?.startsWith('team-') ? 'team' : 'member',
      entry.attributes['place-name'],
      entry.attributes.through.join(', '),
    ];
    return printList(call, {
      headings: ['who', 'kind', 'where', 'through'],
      entries: data,
      row: (entry) => {
        const [who = '', kind = '', where = '', through = ''] = cells(entry);
        return [bold(plain(who)), dim(kind), plain(where), dim(through && `through ${plain(through)}`)];
      },
      values: cells,
      json: { data },
      none: 'No user or team has this permission.',
    });
  },
};
