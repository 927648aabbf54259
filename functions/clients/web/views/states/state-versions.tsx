import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { bytes } from '#clients/client/text/time.ts';
import { useLive } from '#clients/web/live.ts';
import type { WorkspaceProps } from '#clients/web/organization.ts';
import { Ago, Loaded } from '#clients/web/parts/basics.tsx';
import { Item, List } from '#clients/web/parts/list.tsx';
import { Person } from '#clients/web/parts/person.tsx';
import { listAtLeast, related } from '#clients/web/session.ts';

/** @param shownCount rounded up to whole pages */
export const stateList = async (organization: string, workspace: string, shownCount: number): Promise<Resource[]> => {
  const filter = `filter[organization][name]=${encodeURIComponent(organization)}&filter[workspace][name]=${encodeURIComponent(workspace)}`;
  return (await listAtLeast(`/state-versions?${filter}`, shownCount)).data;
};

/** State versions of the workspace, newest first. */
export const States = ({ workspace, organization }: WorkspaceProps) => {
  const { name } = workspace.attributes;
  const current = related(workspace, 'current-state-version');
  const shownCount = useSignal(100);
  const live = useLive(
    `states/${workspace.id}/${current}/${shownCount.value}`,
    () => stateList(organization, name, shownCount.value),
    (15_000 * shownCount.value) / 100,
  );
  return (
    <Loaded live={live} what="states">
      {(versions) =>
        versions.length === 0 ? (
          <p class="panel pad soft">
            No states yet. The first apply creates one. To migrate an existing state, add the <code>cloud</code> block
            to its configuration and run <code>terraform init</code>.
          </p>
        ) : (
          <>
            <List label="State versions" of={versions}>
              {(version: Resource<'state-versions'>) => {
                const { serial, size, status, intermediate, 'created-at': at } = version.attributes;
                const run = related(version, 'run');
                const rolledBack = related(version, 'rollback-state-version') !== undefined;
                return (
                  <Item
                    key={version.id}
                    to={{ view: 'state', organization, workspace: name, version: version.id }}
                    title={`Serial ${serial}`}
                    beside={version.id === current && <span class="status good">Current</span>}
                    tags={[intermediate && 'intermediate snapshot', status !== 'finalized' && status]}
                    meta={
                      <>
                        {run ? 'applied' : rolledBack ? 'rolled back' : 'pushed'} by{' '}
                        <Person id={related(version, 'created-by')} />
                        {run && (
                          <>
                            {' in '}
                            <span class="mono">{run}</span>
                          </>
                        )}
                        {size !== null && ` · ${bytes(size)}`}
                      </>
                    }
                    notes={[<Ago key="at" at={at} />]}
                  />
                );
              }}
            </List>
            {versions.length >= shownCount.value && (
              <button type="button" class="quiet" onClick={() => (shownCount.value += 100)}>
                Show older states
              </button>
            )}
          </>
        )
      }
    </Loaded>
  );
};
