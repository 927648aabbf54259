import type { Resource } from '#clients/client/client.ts';
import { askForWays, ways } from '#clients/web/issuer.ts';
import { useList, useLive } from '#clients/web/live.ts';
import { may, type OrganizationProps } from '#clients/web/organization.ts';
import type { Item as Attachment } from '#clients/web/parts/attached.tsx';
import { Ago, Loaded } from '#clients/web/parts/basics.tsx';
import { DialogButton } from '#clients/web/parts/button.tsx';
import { DeleteButton, FormDialog } from '#clients/web/parts/dialog.tsx';
import { Choices, Text } from '#clients/web/parts/fields.tsx';
import { Item, LiveList } from '#clients/web/parts/list.tsx';
import { OrganizationShell } from '#clients/web/parts/organization-shell.tsx';
import { account, all, create, related } from '#clients/web/session.ts';
import { MemberAccess } from './access-report.tsx';

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

/** Invited users have no name before their first sign-in. */
export const nameOf = (user: Resource<'users'> | undefined): string =>
  user?.attributes.username || user?.attributes.email || user?.id || '';

const titleOf = ({ membership, user }: Member): string =>
  user?.attributes.username || membership.attributes.email || membership.id;

/** All members as items, by user id; empty without permission. */
export const useMembers = (organization: string, enabled: boolean): Attachment[] =>
  useLive(
    `members of ${organization}: ${enabled}`,
    async () =>
      enabled
        ? (await load(organization)).map((member) => ({
            id: related(member.membership, 'user') ?? '',
            name: titleOf(member),
          }))
        : [],
    enabled ? 60_000 : undefined,
  ).value ?? [];

export const Members = ({ organization }: OrganizationProps) => {
  const live = useLive(`members/${organization}`, () => load(organization), 15_000);
  const mayManage = may(organization, 'can-manage-users');
  // Users join by signing in with the invited address.
  const asked = useLive('ways to sign in', async () => {
    await askForWays();
    return true;
  });
  return (
    <OrganizationShell
      organization={organization}
      at="members"
      action={
        mayManage &&
        ways.value.length > 0 && (
          <DialogButton text="Invite" primary onClose={live.refresh}>
            {(close) => <Invite organization={organization} onClose={close} />}
          </DialogButton>
        )
      }
    >
      {mayManage && asked.value && ways.value.length === 0 && (
        <p class="soft">
          To invite users, set up sign-in through OpenID Connect or SAML first (setting <code>signInIssuer</code> or{' '}
          <code>samlAdministrators</code>): they join by signing in with the invited address.
        </p>
      )}
      <LiveList live={live} what="members">
        {(member) => {
          const { status, email, 'created-at': at } = member.membership.attributes;
          const title = titleOf(member);
          return (
            <Item
              key={member.membership.id}
              title={title}
              tags={[status === 'invited' && 'invited', member.user?.id === account.value?.id && 'you']}
              meta={
                <>
                  {title !== email && <>{email} · </>}
                  {member.teams.length ? member.teams.map(({ attributes }) => attributes.name).join(', ') : 'no teams'}
                  {at && (
                    <>
                      {' · '}
                      <Ago at={at} />
                    </>
                  )}
                </>
              }
            >
              {status !== 'invited' && (
                <MemberAccess
                  organization={organization}
                  user={related(member.membership, 'user') ?? ''}
                  name={title}
                />
              )}
              {mayManage && (
                <DeleteButton
                  text="Remove"
                  of={title}
                  noun="member"
                  path={`/organization-memberships/${member.membership.id}`}
                  onClose={live.refresh}
                >
                  {title} loses access to {organization} immediately. Their actions stay in run timelines.
                </DeleteButton>
              )}
            </Item>
          );
        }}
      </LiveList>
    </OrganizationShell>
  );
};

const Invite = ({ organization, onClose }: OrganizationProps & { onClose(): void }) => {
  const teams = useList<'teams'>(`/organizations/${organization}/teams`);
  const path = `/organizations/${organization}/organization-memberships`;
  const submit = (data: FormData, { email }: Record<string, unknown>) =>
    create(
      path,
      'organization-memberships',
      { email },
      {
        teams: { data: data.getAll('teams').map((id) => ({ type: 'teams', id })) },
      },
    );
  return (
    <FormDialog title={`Invite to ${organization}`} submit="Invite" onSubmit={submit} onClose={onClose}>
      <Text
        label="E-mail"
        name="email"
        required
        autoFocus
        hint="No email is sent. The user joins after signing in with this address through OpenID Connect."
      />
      <Loaded live={teams} what="teams">
        {(teams) => (
          <Choices legend="Teams" name="teams" options={teams.map(({ id, attributes }) => [id, attributes.name])} />
        )}
      </Loaded>
    </FormDialog>
  );
};
