import { useEffect } from 'preact/hooks';
import { useLive } from '#clients/web/live.ts';
import { go, hrefOf } from '#clients/web/location.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { Shell } from '#clients/web/parts/shell.tsx';
import { account, all } from '#clients/web/session.ts';
import { Invitations, invitationsPath } from './invitations.tsx';

/** Users with one organization and no invitation are redirected to it. */
export const Organizations = () => {
  const list = useLive(
    'organizations',
    async () => {
      const [organizations, invitations] = await Promise.all([
        all<'organizations'>('/organizations'),
        all<'organization-memberships'>(invitationsPath),
      ]);
      return { organizations: organizations.data, invitations: invitations.data };
    },
    () => 60_000,
  );
  const { organizations: joined = [], invitations = [] } = list.value ?? {};
  const only = joined.length === 1 && invitations.length === 0 ? joined[0] : undefined;
  useEffect(() => {
    if (only) go({ view: 'workspaces', organization: only.id }, { replace: true });
  }, [only]);
  return (
    <Shell title="Organizations" crumbs={[]}>
      <div class="row spread">
        <h1>Organizations</h1>
        {account.value?.attributes.permissions['can-create-organizations'] !== false && (
          <a class="button" href={hrefOf({ view: 'new-organization' })}>
            New organization
          </a>
        )}
      </div>
      <Invitations invitations={invitations} onAnswer={() => list.refresh()} />
      <Loaded live={list} what="organizations">
        {({ organizations }) =>
          organizations.length === 0 ? (
            <section class="panel empty">
              <h2>No organizations yet</h2>
              <p class="soft">
                An organization contains workspaces. Create one, or ask an owner of an existing organization to invite
                you.
              </p>
            </section>
          ) : (
            <ul class="panel list">
              {organizations.map(({ id, attributes }) => (
                <li key={id}>
                  <a class="item" href={hrefOf({ view: 'workspaces', organization: id })}>
                    <span class="title">{id}</span>
                    <span class="meta">{attributes.email}</span>
                  </a>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Shell>
  );
};
