import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { may } from '#clients/web/organization.ts';
import type { Item } from '#clients/web/parts/attached.tsx';
import { Ago, Loaded } from '#clients/web/parts/basics.tsx';
import { Confirm, Dialog } from '#clients/web/parts/dialog.tsx';
import { Choices, Form, Text, textOf } from '#clients/web/parts/form.tsx';
import { Head } from '#clients/web/parts/head.tsx';
import { OrganizationShell } from '#clients/web/parts/organization-shell.tsx';
import { SmallButton } from '#clients/web/parts/small-button.tsx';
import { account, all, call, create, related } from '#clients/web/session.ts';

/** A member of an organization, or an invited user. */
interface Member {
  membership: Resource<'organization-memberships'>;
  user: Resource<'users'> | undefined;
  teams: Resource<'teams'>[];
}

const load = async (organization: string): Promise<Member[]> => {
  const path = `/organizations/${organization}/organization-memberships?include=user,teams`;
  const { data, included } = await all<'organization-memberships'>(path);
  const byId = new Map(included.map((resource) => [resource.id, resource]));
  return data.map((membership) => {
    const teams = membership.relationships?.teams?.data;
    return {
      membership,
      user: byId.get(related(membership, 'user') ?? ''),
      teams: Array.isArray(teams) ? teams.flatMap(({ id }) => byId.get(id) ?? []) : [],
    };
  });
};

const minute = 60_000;

/** Invited users have no name before their first sign-in. */
export const nameOf = (user: Resource<'users'> | undefined): string =>
  user?.attributes.username || user?.attributes.email || user?.id || '';

const titleOf = ({ membership, user }: Member): string =>
  user?.attributes.username || membership.attributes.email || membership.id;

/** All members as items, by user id; empty without permission. */
export const useMembers = (organization: string, enabled: boolean): Item[] =>
  useLive(
    `members of ${organization}: ${enabled}`,
    async () =>
      enabled
        ? (await load(organization)).map((member) => ({
            id: related(member.membership, 'user') ?? '',
            name: titleOf(member),
          }))
        : [],
    () => (enabled ? minute : undefined),
  ).value ?? [];

export const Members = ({ organization }: { organization: string }) => {
  const live = useLive(
    `members/${organization}`,
    () => load(organization),
    () => 15_000,
  );
  const inviting = useSignal(false);
  const removing = useSignal<Member | undefined>(undefined);
  const mayManage = may(organization, 'can-manage-users');
  const close = () => {
    inviting.value = false;
    removing.value = undefined;
    live.refresh();
  };
  return (
    <OrganizationShell organization={organization} at="members">
      <Head title="Members" add="Invite" onAdd={mayManage && (() => (inviting.value = true))} />
      <Loaded live={live} what="members">
        {(members) => (
          <ul class="panel list" aria-label="Members">
            {members.map((member) => (
              <Line key={member.membership.id} {...member} onRemove={mayManage && (() => (removing.value = member))} />
            ))}
          </ul>
        )}
      </Loaded>
      {inviting.value && <Invite organization={organization} onClose={close} />}
      {removing.value && <Remove member={removing.value} organization={organization} onClose={close} />}
    </OrganizationShell>
  );
};

const Line = ({ onRemove, ...member }: Member & { onRemove: false | (() => void) }) => {
  const { status, email, 'created-at': at } = member.membership.attributes;
  const title = titleOf(member);
  return (
    <li class="item">
      <span class="row">
        <span class="title">{title}</span>
        {status === 'invited' && <span class="tag">invited</span>}
        {member.user?.id === account.value?.id && <span class="tag">you</span>}
      </span>
      <span class="meta break">
        {title !== email && <>{email} · </>}
        {member.teams.length ? member.teams.map(({ attributes }) => attributes.name).join(', ') : 'no teams'}
        {at && (
          <>
            {' · '}
            <Ago at={at} />
          </>
        )}
      </span>
      {onRemove && (
        <span class="end">
          <SmallButton text="Remove" of={title} danger onClick={onRemove} />
        </span>
      )}
    </li>
  );
};

const Invite = ({ organization, onClose }: { organization: string; onClose(): void }) => {
  const teams = useLive(
    `teams to invite to/${organization}`,
    async () => (await all<'teams'>(`/organizations/${organization}/teams`)).data,
    () => undefined,
  );
  const submit = async (data: FormData) => {
    await create(
      `/organizations/${organization}/organization-memberships`,
      'organization-memberships',
      { email: textOf(data, 'email') },
      { teams: { data: data.getAll('teams').map((id) => ({ type: 'teams', id })) } },
    );
    onClose();
  };
  return (
    <Dialog title={`Invite to ${organization}`} onClose={onClose}>
      <Form submit="Invite" onSubmit={submit} onCancel={onClose}>
        <Text
          label="E-mail"
          name="email"
          required
          autoFocus
          hint="No email is sent. The user joins after signing in with this address through OpenID Connect."
        />
        <Loaded live={teams} what="teams">
          {(teams) => (
            <Choices
              legend="Teams"
              name="teams"
              options={teams.map(({ id, attributes }) => [id, attributes.name])}
              chosen={[]}
            />
          )}
        </Loaded>
      </Form>
    </Dialog>
  );
};

const Remove = ({ member, organization, onClose }: { member: Member; organization: string; onClose(): void }) => (
  <Confirm
    title={`Remove ${titleOf(member)}?`}
    yes="Remove member"
    onYes={() => call('DELETE', `/organization-memberships/${member.membership.id}`)}
    onClose={onClose}
  >
    <p>
      {titleOf(member)} loses access to {organization} immediately. Their actions stay in run timelines.
    </p>
  </Confirm>
);
