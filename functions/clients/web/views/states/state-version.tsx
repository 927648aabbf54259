import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Resource } from '#clients/client/client.ts';
import { bytes } from '#clients/client/text/time.ts';
import { useLive } from '#clients/web/live.ts';
import { go, hrefOf } from '#clients/web/location.ts';
import { useAction } from '#clients/web/parts/action.tsx';
import { Ago, Facts, Loaded, Notice } from '#clients/web/parts/basics.tsx';
import { DiffList } from '#clients/web/parts/diff.tsx';
import { Person } from '#clients/web/parts/person.tsx';
import { Shell } from '#clients/web/parts/shell.tsx';
import { content, get, related } from '#clients/web/session.ts';
import { saveFile } from '#clients/web/text/save.ts';
import { type State, stateDifferences } from '#clients/web/text/state.ts';
import { Rollback } from './rollback.tsx';
import { stateList } from './state-versions.tsx';

interface ViewData {
  version: Resource<'state-versions'>;
  workspace: Resource<'workspaces'>;
  /** State versions of the workspace, newest first. */
  versions: Resource<'state-versions'>[];
}

const maxVersions = 1_000;

const load = async (organization: string, name: string, id: string): Promise<ViewData> => {
  const [version, workspace, versions] = await Promise.all([
    get<'state-versions'>(`/state-versions/${encodeURIComponent(id)}`),
    get<'workspaces'>(`/organizations/${encodeURIComponent(organization)}/workspaces/${encodeURIComponent(name)}`),
    stateList(organization, name, maxVersions),
  ]);
  return { version, workspace, versions };
};

const readState = async (id: string): Promise<State> =>
  (await content(`/state-versions/${id}/download`)).json() as Promise<State>;

interface Props {
  organization: string;
  workspace: string;
  version: string;
}

/** One state version: its differences to another one, and rollback. */
export const StateView = ({ organization, workspace, version: id }: Props) => {
  const live = useLive(
    `state/${id}`,
    () => load(organization, workspace, id),
    ({ versions }) => Math.max(10_000, versions.length * 100),
  );
  return (
    <Shell
      title={`State of ${workspace}`}
      crumbs={[
        { text: organization, to: { view: 'workspaces', organization } },
        { text: workspace, to: { view: 'workspace', organization, workspace, tab: 'states' } },
        { text: id },
      ]}
    >
      <Loaded live={live} what="state">
        {(loaded) => <Version key={loaded.version.id} {...loaded} organization={organization} />}
      </Loaded>
    </Shell>
  );
};

const Version = ({ version, workspace, versions, organization }: ViewData & { organization: string }) => {
  const { attributes } = version;
  const { name, permissions } = workspace.attributes;
  const current = related(workspace, 'current-state-version') === version.id;
  const { failure, perform } = useAction();
  const asking = useSignal(false);
  const run = related(version, 'run');
  const source = related(version, 'rollback-state-version');
  const serialOf = (id: string): string => {
    const version = versions.find((version) => version.id === id);
    return version ? `serial ${version.attributes.serial}` : id;
  };
  const download = () =>
    perform(async () => {
      const response = await content(`/state-versions/${version.id}/download`);
      saveFile(await response.text(), `${name}-${attributes.serial}.tfstate`, 'application/json');
    });
  return (
    <>
      <div class="row spread">
        <div class="row">
          <h1>Serial {attributes.serial}</h1>
          {current && <span class="status good">Current</span>}
        </div>
        <div class="row">
          <button type="button" onClick={download}>
            Download
          </button>
          {!current && attributes.status === 'finalized' && permissions['can-create-state-versions'] && (
            <button type="button" class="danger" onClick={() => (asking.value = true)}>
              Roll back to this
            </button>
          )}
        </div>
      </div>
      {failure}
      {attributes['error-message'] && <Notice kind="bad">{attributes['error-message']}</Notice>}
      <div class="sides">
        {attributes.status === 'finalized' ? (
          <Compared version={version} versions={versions} />
        ) : (
          <p class="soft">This state version has no content (status: {attributes.status}).</p>
        )}
        <aside class="panel pad" aria-label="About this state">
          <Facts
            facts={[
              ['Created', <Ago key="at" at={attributes['created-at']} />],
              ['Created by', <Person key="by" id={related(version, 'created-by')} />],
              ...(run
                ? [
                    fact(
                      'Run',
                      <a class="mono" href={hrefOf({ view: 'run', organization, workspace: name, run })}>
                        {run}
                      </a>,
                    ),
                  ]
                : []),
              ...(source
                ? [
                    fact(
                      'Rolled back to',
                      <a href={hrefOf({ view: 'state', organization, workspace: name, version: source })}>
                        {serialOf(source)}
                      </a>,
                    ),
                  ]
                : []),
              ['Terraform', attributes['terraform-version'] ?? '–'],
              ['Size', attributes.size === null ? '–' : bytes(attributes.size)],
              ['ID', <code key="id">{version.id}</code>],
            ]}
          />
        </aside>
      </div>
      {asking.value && (
        <Rollback
          version={version}
          workspace={workspace}
          onClose={() => (asking.value = false)}
          onDone={(versionId) => go({ view: 'state', organization, workspace: name, version: versionId })}
        />
      )}
    </>
  );
};

const fact = (name: string, value: ComponentChildren): [string, ComponentChildren] => [name, value];

const Compared = ({
  version,
  versions,
}: {
  version: Resource<'state-versions'>;
  versions: Resource<'state-versions'>[];
}) => {
  const others = versions.filter(({ id, attributes }) => id !== version.id && attributes.status === 'finalized');
  // By default, compare with the state before the apply, not with its snapshots.
  const older = others.find(
    ({ attributes }) => attributes.serial < version.attributes.serial && !attributes.intermediate,
  );
  const against = useSignal(older?.id ?? '');
  const live = useLive(
    `compare/${version.id}/${against.value}`,
    async () => {
      const [after, before] = await Promise.all([
        readState(version.id),
        against.value ? readState(against.value) : undefined,
      ]);
      return stateDifferences(before, after);
    },
    () => undefined,
  );
  return (
    <section class="panel">
      <div class="pad row spread">
        <h2>Differences</h2>
        <label class="row">
          <span class="soft small">compared with</span>
          <select
            value={against.value}
            onChange={(event) => {
              against.value = event.currentTarget.value;
            }}
          >
            <option value="">empty state</option>
            {others.map(({ id, attributes }) => (
              <option key={id} value={id}>
                serial {attributes.serial}
                {attributes.intermediate ? ' (snapshot)' : ''}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Loaded live={live} what="content">
        {({ resources, outputs }) => (
          <>
            <DiffList label="resources" differences={resources} did />
            {outputs.length > 0 && (
              <>
                <h3 class="pad part">Outputs</h3>
                <DiffList label="outputs" differences={outputs} did />
              </>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
};
