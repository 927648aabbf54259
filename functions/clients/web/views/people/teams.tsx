import type { Resource } from '#clients/client/client.ts';
import { count } from '#clients/client/text/time.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { Select, Text } from '#clients/web/parts/fields.tsx';
import { Item } from '#clients/web/parts/list.tsx';
import { ResourceList } from '#clients/web/parts/resource-list.tsx';

/** Teams of the organization that the user can see. */
export const Teams = ({ organization }: OrganizationProps) => (
  <ResourceList
    organization={organization}
    view="team"
    note={({ length }) =>
      length < 2 && (
        <p class="soft">
          Create a team, then grant it access in the settings of workspaces and projects. Users without a team see no
          workspaces.
        </p>
      )
    }
    fields={<TeamFields />}
  >
    {({ id, attributes: { name, visibility, 'users-count': users, 'sso-team-id': group } }, to) => (
      <Item
        key={id}
        to={to}
        title={name}
        tags={[visibility === 'secret' && 'secret']}
        meta={name === 'owners' ? 'Full access' : group && `Identity provider group: ${group}`}
        notes={[count(users, 'member')]}
      />
    )}
  </ResourceList>
);

const visibilities = [
  ['organization', 'everyone in the organization'],
  ['secret', 'members, and users who can see secret teams'],
] as const;

export const TeamFields = ({ team }: { team?: Resource<'teams'> }) => {
  const permissions = team?.attributes.permissions;
  return (
    <>
      {(!permissions || permissions['can-update-name']) && <Text label="Name" name="name" required autoFocus={!team} />}
      {(!permissions || permissions['can-update-visibility']) && (
        <Select label="Visibility" name="visibility" options={visibilities} />
      )}
      <Text
        label="Identity provider group"
        name="sso-team-id"
        hint="Users who sign in through OpenID Connect and belong to this group are members of the team."
      />
    </>
  );
};
