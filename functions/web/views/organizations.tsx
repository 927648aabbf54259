import { useEffect } from 'preact/hooks';
import { useLive } from '../live.ts';
import { go, hrefOf } from '../location.ts';
import { Loaded } from '../parts/basics.tsx';
import { Shell } from '../parts/shell.tsx';
import { all } from '../session.ts';

/** Whoever belongs to one organization only is led right into it. */
export const Organizations = () => {
  const list = useLive(
    'organizations',
    async () => (await all('/organizations')).data,
    () => 60_000,
  );
  const only = list.value?.length === 1 ? list.value[0] : undefined;
  useEffect(() => {
    if (only) go({ view: 'workspaces', organization: only.id }, { replace: true });
  }, [only]);
  return (
    <Shell title="Organizations" crumbs={[]}>
      <div class="row spread">
        <h1>Organizations</h1>
        <a class="button" href={hrefOf({ view: 'new-organization' })}>
          New organization
        </a>
      </div>
      <Loaded live={list} what="organizations">
        {(organizations) =>
          organizations.length === 0 ? (
            <section class="panel empty">
              <h2>You belong to no organization yet</h2>
              <p class="soft">
                An organization holds workspaces. Make your own, or ask the owner of another to let you in.
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
