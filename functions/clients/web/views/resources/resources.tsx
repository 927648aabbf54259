import { useMemo } from 'preact/hooks';
import type { Resource } from '#clients/client/client.ts';
import { count } from '#clients/client/text/time.ts';
import { useLive } from '#clients/web/live.ts';
import { useQuery } from '#clients/web/location.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { Filter, optionsOf, Search, Switch } from '#clients/web/parts/filters.tsx';
import { DependencyGraph } from '#clients/web/parts/graph.tsx';
import { LongList, Table } from '#clients/web/parts/list.tsx';
import { all, related } from '#clients/web/session.ts';
import { natural, wordsOf } from '#clients/web/text/lists.ts';
import { configured } from '#platform/text/resource-times.ts';
import { LastChange, type Managed } from './last-change.tsx';
import { ResourceDetails } from './resource-details.tsx';

interface Change {
  'state-version-id': string;
  'run-id': string | null;
  'created-at': string;
}

const managedOf = ({ attributes }: Resource): Managed => ({
  address: attributes['full-address'],
  type: attributes['provider-type'],
  module: attributes.module === 'root' ? '' : attributes.module,
  provider: attributes.provider,
  dependsOn: attributes['depends-on'],
  createdAt: attributes['created-at'] ?? undefined,
  tainted: attributes.tainted,
  changes: attributes.changes.map((change: Change) => ({
    version: change['state-version-id'],
    run: change['run-id'] ?? undefined,
    at: change['created-at'],
  })),
});

const load = async (workspaceId: string): Promise<Managed[]> => {
  const { data } = await all(`/workspaces/${workspaceId}/resources`);
  return data.map(managedOf).sort((a, b) => natural.compare(a.address, b.address));
};

/** Managed resources of the workspace: a searchable list and a dependency graph. */
export const Resources = ({ workspace }: { workspace: Resource<'workspaces'> }) => {
  const version = related(workspace, 'current-state-version');
  const live = useLive(`resources/${workspace.id}/${version}`, () => load(workspace.id));
  return (
    <Loaded live={live} what="resources">
      {(resources) =>
        resources.length ? (
          <Found resources={resources} workspace={workspace} />
        ) : (
          <p class="soft">No resources yet. They appear here once a run has applied.</p>
        )
      }
    </Loaded>
  );
};

const views = [
  ['', 'List'],
  ['graph', 'Graph'],
] as const;

interface ManagedProps {
  resources: Managed[];
  workspace: Resource<'workspaces'>;
}

const Found = ({ resources, workspace }: ManagedProps) => {
  const search = useQuery('search');
  const type = useQuery('type');
  const module = useQuery('module');
  const view = useQuery('view');
  const chosen = useQuery('resource');
  const words = wordsOf(search.value);
  const matching = useMemo(
    () =>
      resources.filter(
        (resource) =>
          (!type.value || resource.type === type.value) &&
          (!module.value || resource.module === module.value) &&
          words.every((word) => `${resource.address} ${resource.provider}`.toLowerCase().includes(word)),
      ),
    [resources, type.value, module.value, search.value],
  );
  const dependencies = useMemo(
    () => Object.fromEntries(resources.map(({ address, dependsOn }) => [configured(address), dependsOn])),
    [resources],
  );
  const optionsIn = (field: 'type' | 'module') =>
    optionsOf(
      resources.map((resource) => resource[field]),
      natural.compare,
    );
  const details = resources.find(({ address }) => address === chosen.value);
  return (
    <section class="stack">
      <div class="row">
        <Search label="Search resources" placeholder="Search by address or provider" text={search} />
        <Filter label="Type" all="All types" chosen={type} options={optionsIn('type')} />
        <Filter label="Module" all="All modules" chosen={module} options={optionsIn('module')} />
        <Switch label="Show resources as" options={views} chosen={view} />
      </div>
      {details && (
        <ResourceDetails
          key={details.address}
          resource={details}
          resources={resources}
          workspace={workspace}
          onChoose={(address) => (chosen.value = address)}
        />
      )}
      {matching.length === 0 ? (
        <p class="soft">No resources match the filters.</p>
      ) : view.value === 'graph' ? (
        <div class="panel">
          <DependencyGraph
            label="Dependencies"
            resources={matching}
            dependencies={dependencies}
            chosen={details && configured(details.address)}
            onChoose={(id) => {
              chosen.value = resources.find(({ address }) => configured(address) === id)?.address ?? '';
            }}
          />
        </div>
      ) : (
        <List
          resources={matching}
          workspace={workspace}
          choice={`${search.value} ${type.value} ${module.value}`}
          onChoose={(address) => (chosen.value = address)}
        />
      )}
    </section>
  );
};

interface ListProps extends ManagedProps {
  choice: string;
  onChoose(address: string): void;
}

const List = ({ resources, workspace, choice, onChoose }: ListProps) => (
  <LongList
    of={resources}
    choice={choice}
    list={(rows) => (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable by keyboard on narrow screens
      <section class="panel scrolls" tabIndex={0} aria-label="Resources">
        <Table
          class="stacks"
          caption={count(resources.length, 'resource')}
          heads={['Resource', 'Type', 'Module', 'Provider', 'Last changed']}
        >
          {rows}
        </Table>
      </section>
    )}
  >
    {({ address, type, module, provider, changes, tainted }) => (
      <tr key={address}>
        <th scope="row">
          <button type="button" class="link mono break" onClick={() => onChoose(address)}>
            {address}
          </button>
          {tainted && ' '}
          {tainted && (
            <span class="tag warn" title="The next plan replaces it.">
              tainted
            </span>
          )}
        </th>
        <td class="mono" data-label="Type">
          {type}
        </td>
        <td data-label="Module">{module || '–'}</td>
        <td data-label="Provider">{provider}</td>
        <td class="nowrap" data-label="Last changed">
          <LastChange change={changes[0]} workspace={workspace} />
        </td>
      </tr>
    )}
  </LongList>
);
