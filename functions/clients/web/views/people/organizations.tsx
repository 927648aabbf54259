import { useEffect } from 'preact/hooks';
import { useLive } from '#clients/web/live.ts';
import { go, hrefOf } from '#clients/web/location.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { Item, List } from '#clients/web/parts/list.tsx';
import { Empty } from '#clients/web/parts/section.tsx';
import { Shell } from '#clients/web/parts/shell.tsx';
import { account, all } from '#clients/web/session.ts';
import { Invitations, invitationsPath } from './invitations.tsx';

const load = async () => {
  const [organizations, invitations] = await Promise.all([
    all<'organizations'>('/organizations'),
    all<'organization-memberships'>(invitationsPath),
  ]);
  return { organizations: organizations.data, invitations: invitations.data };
};

/** Users with one organization and no invitation are redirected to it. */
export const Organizations = () => {
  const list = useLive('organizations', load, 60_000);
  const { organizations: joined = [], invitations = [] } = list.value ?? {};
  const only = joined.length === 1 && invitations.length === 0 ? joined[0] : undefined;
  useEffect(() => {
    if (only) go({ view: 'overview', organization: only.id }, { replace: true });
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
      <Invitations invitations={invitations} onAnswer={list.refresh} />
      <Loaded live={list} what="organizations">
        {({ organizations }) =>
          organizations.length === 0 ? (
            <Empty title="No organizations yet">
              <p class="soft">
                An organization contains workspaces. Create one, or ask an owner of an existing organization to invite
                you.
              </p>
            </Empty>
          ) : (
            <List label="Organizations" of={organizations}>
              {({ id, attributes }) => (
                <Item key={id} to={{ view: 'overview', organization: id }} title={id} meta={attributes.email} />
              )}
            </List>
          )
        }
      </Loaded>
    </Shell>
  );
};
