import type { Resource } from '#clients/client/client.ts';
import { count } from '#clients/client/text/time.ts';
import { Select, Text, textOf } from '#clients/web/parts/form.tsx';
import { ResourceList } from '#clients/web/parts/resource-list.tsx';

/** Teams of the organization that the user can see. */
export const Teams = ({ organization }: { organization: string }) => (
  <ResourceList
    organization={organization}
    noun="team"
    type="teams"
    view="team"
    permission="can-create-team"
    note={({ length }) =>
      length < 2 && (
        <p class="soft">
          Create a team, then grant it access in the settings of workspaces and projects. Users without a team see no
          workspaces.
        </p>
      )
    }
    line={({ attributes }) => <Line {...attributes} />}
    fields={<TeamFields />}
    attributesOf={teamOf}
  />
);

const Line = ({ name, visibility, 'users-count': users, 'sso-team-id': group }: Resource<'teams'>['attributes']) => (
  <>
    <span class="row">
      <span class="title">{name}</span>
      {visibility === 'secret' && <span class="tag">secret</span>}
    </span>
    <span class="meta">{name === 'owners' ? 'Full access' : group ? `Identity provider group: ${group}` : ''}</span>
    <span class="end meta">{count(users, 'member')}</span>
  </>
);

const visibilities = [
  ['organization', 'everyone in the organization'],
  ['secret', 'members, and users who can see secret teams'],
] as const;

export const TeamFields = ({ team }: { team?: Resource<'teams'> }) => {
  const attributes = team?.attributes;
  return (
    <>
      {(!attributes || attributes.permissions['can-update-name']) && (
        <Text label="Name" name="name" required autoFocus={!attributes} value={attributes?.name} />
      )}
      {(!attributes || attributes.permissions['can-update-visibility']) && (
        <Select label="Visibility" name="visibility" options={visibilities} value={attributes?.visibility} />
      )}
      <Text
        label="Identity provider group"
        name="sso-team-id"
        value={attributes?.['sso-team-id'] ?? ''}
        hint="Users who sign in through OpenID Connect and belong to this group are members of the team."
      />
    </>
  );
};

export const teamOf = (data: FormData) => ({
  ...(data.has('name') ? { name: textOf(data, 'name') } : {}),
  ...(data.has('visibility') ? { visibility: data.get('visibility') } : {}),
  'sso-team-id': textOf(data, 'sso-team-id') ?? null,
});
