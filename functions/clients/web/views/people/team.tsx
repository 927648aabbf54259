import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import type { Live } from '#clients/web/live.ts';
import { may, useOrganization } from '#clients/web/organization.ts';
import { Attached } from '#clients/web/parts/attached.tsx';
import { Notice } from '#clients/web/parts/basics.tsx';
import { Choices, Form } from '#clients/web/parts/form.tsx';
import { Managed, Single } from '#clients/web/parts/managed.tsx';
import { call, change, get } from '#clients/web/session.ts';
import { organizationFlags } from '#clients/web/text/access.ts';
import { nameOf, useMembers } from './members.tsx';
import { TeamTokens } from './team-tokens.tsx';
import { TeamFields, teamOf } from './teams.tsx';

interface ViewData {
  team: Resource<'teams'>;
  users: Resource<'users'>[];
}

const load = async (id: string): Promise<ViewData> => {
  const { data, included = [] } = await call('GET', `/teams/${encodeURIComponent(id)}?include=users`);
  return { team: data, users: included.filter(({ type }) => type === 'users') };
};

/** One team: its members and organization access. */
export const TeamView = ({ organization, id }: { organization: string; id: string }) => {
  useOrganization(organization);
  return (
    <Single
      what="team"
      id={id}
      organization={organization}
      list={{ text: 'Teams', to: { view: 'teams', organization } }}
      load={() => load(id)}
      thing={({ team }) => team}
    >
      {(loaded, live) => <Team {...loaded} organization={organization} live={live} />}
    </Single>
  );
};

const Team = ({ team, users, organization, live }: ViewData & { organization: string; live: Live<ViewData> }) => {
  const { permissions } = team.attributes;
  return (
    <>
      <Managed
        what="team"
        thing={team}
        list={{ view: 'teams', organization }}
        mayChange={permissions['can-update-sso-team-id']}
        mayDelete={permissions['can-destroy']}
        attributesOf={teamOf}
        fields={(basis) => <TeamFields team={basis} />}
        consequence={<>Members lose the team’s permissions immediately. They stay members of {organization}.</>}
        onChange={live.refresh}
      />
      <div class="sides">
        <Access team={team} onChange={live.refresh} />
        <Members team={team} users={users} organization={organization} onChange={live.refresh} />
      </div>
      {permissions['can-view-api-token'] && <TeamTokens team={team} />}
    </>
  );
};

const sameAccess = (a: Resource<'teams'>, b: Resource<'teams'>): boolean =>
  JSON.stringify(a.attributes['organization-access']) === JSON.stringify(b.attributes['organization-access']);

const Access = ({ team, onChange }: { team: Resource<'teams'>; onChange(): void }) => {
  const saved = useSignal(false);
  const mayChange = team.attributes.permissions['can-update-organization-access'];
  // The team is polled; the form keeps its initial values.
  const initial = useSignal(team);
  // Other changes to the team do not conflict.
  const basis = !mayChange || sameAccess(team, initial.value) ? team : initial.value;
  const { name, 'organization-access': access } = basis.attributes;
  const owners = name === 'owners';
  const submit = async (data: FormData) => {
    saved.value = false;
    const checked = new Set(data.getAll('flags'));
    // Permissions that imply others change them too.
    const changed = organizationFlags.filter(([flag]) => checked.has(flag) !== access[flag]);
    const flags = { 'organization-access': Object.fromEntries(changed.map(([flag]) => [flag, checked.has(flag)])) };
    initial.value = await change(`/teams/${team.id}`, 'teams', flags, { basis });
    saved.value = true;
    onChange();
  };
  return (
    <section class="panel pad stack">
      <h2>Organization access</h2>
      {owners ? (
        <p class="soft">Owners have full access.</p>
      ) : (
        <Form
          key={JSON.stringify(access)}
          submit="Save access"
          readOnly={!mayChange}
          onSubmit={submit}
          onReload={async () => {
            initial.value = await get(`/teams/${team.id}`);
          }}
        >
          <Choices
            legend="Permissions"
            name="flags"
            options={organizationFlags}
            chosen={organizationFlags.map(([flag]) => flag).filter((flag) => access[flag])}
          />
          {saved.value && <Notice kind="good">Saved.</Notice>}
        </Form>
      )}
      <p class="soft small">
        Access to single workspaces and projects is granted in their settings, in addition to this.
      </p>
    </section>
  );
};

interface MembersProps extends ViewData {
  organization: string;
  onChange(): void;
}

const Members = ({ team, users, organization, onChange }: MembersProps) => {
  const mayChange = team.attributes.permissions['can-update-membership'];
  const everybody = useMembers(organization, mayChange && may(organization, 'can-view-users'));
  const relate = (method: 'POST' | 'DELETE', id: string) =>
    call(method, `/teams/${team.id}/relationships/users`, { data: [{ type: 'users', id }] });
  const names = new Map(everybody.map(({ id, name }) => [id, name]));
  return (
    <aside class="panel pad stack" aria-label="Members">
      <h2>Members</h2>
      <Attached
        items={users.map((user) => ({ id: user.id, name: names.get(user.id) ?? nameOf(user) }))}
        others={everybody}
        may={mayChange}
        none="No members yet."
        adding="Add a member"
        prompt="Add a member …"
        removing={(name) => `member ${name}`}
        onAdd={(id) => relate('POST', id)}
        onRemove={(id) => relate('DELETE', id)}
        onChange={onChange}
      />
    </aside>
  );
};
