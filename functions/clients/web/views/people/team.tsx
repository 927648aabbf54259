import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { type Live, useList } from '#clients/web/live.ts';
import { hrefOf } from '#clients/web/location.ts';
import { may, type OrganizationProps } from '#clients/web/organization.ts';
import { Attached, relating } from '#clients/web/parts/attached.tsx';
import { Loaded, Notice } from '#clients/web/parts/basics.tsx';
import { Choices } from '#clients/web/parts/fields.tsx';
import { Form } from '#clients/web/parts/form.tsx';
import { Line } from '#clients/web/parts/list.tsx';
import { Managed, Single, type SingleAddress } from '#clients/web/parts/managed.tsx';
import { Panel } from '#clients/web/parts/section.tsx';
import { TokensOf } from '#clients/web/parts/tokens.tsx';
import { call, change, get, related } from '#clients/web/session.ts';
import { organizationFlags, projectLevels, workspaceLevels } from '#clients/web/text/access.ts';
import { nameOf, useMembers } from './members.tsx';
import { TeamFields } from './teams.tsx';

interface ViewData {
  team: Resource<'teams'>;
  users: Resource<'users'>[];
}

const load = async (id: string): Promise<ViewData> => {
  const { data, included = [] } = await call('GET', `/teams/${encodeURIComponent(id)}?include=users`);
  return { team: data, users: included.filter(({ type }) => type === 'users') };
};

/** One team: its members and organization access. */
export const TeamView = (at: SingleAddress) => (
  <Single {...at} view="team" load={() => load(at.id)} thing={({ team }) => team}>
    {(loaded, live) => <Team {...loaded} organization={at.organization} live={live} />}
  </Single>
);

const Team = ({ team, users, organization, live }: ViewData & OrganizationProps & { live: Live<ViewData> }) => {
  const { permissions } = team.attributes;
  return (
    <>
      <Managed
        view="team"
        organization={organization}
        resource={team}
        mayChange={permissions['can-update-sso-team-id']}
        mayDelete={permissions['can-destroy']}
        fields={(current) => <TeamFields team={current} />}
        consequence={<>Members lose the team’s permissions immediately. They stay members of {organization}.</>}
        onChange={live.refresh}
      />
      <div class="sides">
        <div class="stack">
          {team.attributes.name !== 'owners' && <Places team={team} organization={organization} />}
          <Access team={team} onChange={live.refresh} />
        </div>
        <Members team={team} users={users} organization={organization} onChange={live.refresh} />
      </div>
      {permissions['can-view-api-token'] && (
        <TokensOf
          owner={team}
          mayChange={permissions['can-update-api-token']}
          none="No tokens yet. Create one to give a program, such as your CI, the permissions of this team."
        />
      )}
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
    <Panel title="Organization access">
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
    </Panel>
  );
};

/** Projects and workspaces on which the team has access. */
const Places = ({ team, organization }: { team: Resource<'teams'> } & OrganizationProps) => {
  const live = useList<'team-workspaces' | 'team-projects'>(`/teams/${team.id}/access`, 30_000);
  return (
    <Panel title="Access to projects and workspaces">
      <Loaded live={live} what="access">
        {(grants) =>
          grants.length ? (
            <ul class="stack tight">
              {grants.map((grant) => (
                <Place key={grant.id} grant={grant} organization={organization} />
              ))}
            </ul>
          ) : (
            <p class="soft">None yet. Add the team in the settings of a workspace, or on a project’s page.</p>
          )
        }
      </Loaded>
    </Panel>
  );
};

const Place = ({ grant, organization }: { grant: Resource } & OrganizationProps) => {
  const { name, access } = grant.attributes;
  const project = related(grant, 'project');
  const levels: readonly (readonly [string, string])[] = project ? projectLevels : workspaceLevels;
  return (
    <Line
      title={
        <a
          href={hrefOf(
            project
              ? { view: 'project', organization, id: project }
              : { view: 'workspace', organization, workspace: name, tab: 'settings' },
          )}
        >
          {name}
        </a>
      }
      about={`${project ? 'Project' : 'Workspace'} · ${levels.find(([level]) => level === access)?.[1]}`}
    />
  );
};

const Members = ({ team, users, organization, onChange }: ViewData & OrganizationProps & { onChange(): void }) => {
  const mayChange = team.attributes.permissions['can-update-membership'];
  const everybody = useMembers(organization, mayChange && may(organization, 'can-view-users'));
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
        noun="member"
        {...relating(`/teams/${team.id}/relationships/users`)}
        onChange={onChange}
      />
    </aside>
  );
};
