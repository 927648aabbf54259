import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { count } from '#clients/client/text/time.ts';
import { useLive } from '#clients/web/live.ts';
import { go, hrefOf } from '#clients/web/location.ts';
import { may } from '#clients/web/organization.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { Dialog } from '#clients/web/parts/dialog.tsx';
import { Form, Select, Text, textOf } from '#clients/web/parts/form.tsx';
import { Head } from '#clients/web/parts/head.tsx';
import { OrganizationShell } from '#clients/web/parts/organization-shell.tsx';
import { all, create } from '#clients/web/session.ts';

/** Teams of the organization that the user can see. */
export const Teams = ({ organization }: { organization: string }) => {
  const live = useLive(
    `teams/${organization}`,
    async () => (await all<'teams'>(`/organizations/${organization}/teams`)).data,
    () => 15_000,
  );
  const adding = useSignal(false);
  return (
    <OrganizationShell organization={organization} at="teams">
      <Head
        title="Teams"
        add="New team"
        onAdd={may(organization, 'can-create-team') && (() => (adding.value = true))}
      />
      <Loaded live={live} what="teams">
        {(teams) => (
          <>
            <ul class="panel list" aria-label="Teams">
              {teams.map((team) => (
                <Line key={team.id} team={team} organization={organization} />
              ))}
            </ul>
            {teams.length < 2 && (
              <p class="soft">
                Create a team, then grant it access in the settings of workspaces and projects. Users without a team see
                no workspaces.
              </p>
            )}
          </>
        )}
      </Loaded>
      {adding.value && <NewTeam organization={organization} onClose={() => (adding.value = false)} />}
    </OrganizationShell>
  );
};

const Line = ({ team, organization }: { team: Resource<'teams'>; organization: string }) => {
  const { name, visibility, 'users-count': users, 'sso-team-id': group } = team.attributes;
  return (
    <li>
      <a class="item" href={hrefOf({ view: 'team', organization, id: team.id })}>
        <span class="row">
          <span class="title">{name}</span>
          {visibility === 'secret' && <span class="tag">secret</span>}
        </span>
        <span class="meta">{name === 'owners' ? 'Full access' : group ? `Identity provider group: ${group}` : ''}</span>
        <span class="end meta">{count(users, 'member')}</span>
      </a>
    </li>
  );
};

const NewTeam = ({ organization, onClose }: { organization: string; onClose(): void }) => {
  const submit = async (data: FormData) => {
    const team = await create(`/organizations/${organization}/teams`, 'teams', teamOf(data));
    go({ view: 'team', organization, id: team.id });
  };
  return (
    <Dialog title="New team" onClose={onClose}>
      <Form submit="Create team" onSubmit={submit} onCancel={onClose}>
        <TeamFields />
      </Form>
    </Dialog>
  );
};

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
