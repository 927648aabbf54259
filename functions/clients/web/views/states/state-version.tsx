import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { bytes } from '#clients/client/text/time.ts';
import { useLive } from '#clients/web/live.ts';
import { go, hrefOf } from '#clients/web/location.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { Ago, Facts, Loaded, Notice } from '#clients/web/parts/basics.tsx';
import { ActionButton } from '#clients/web/parts/button.tsx';
import { DiffList } from '#clients/web/parts/diff.tsx';
import { Titled } from '#clients/web/parts/head.tsx';
import { Page } from '#clients/web/parts/page.tsx';
import { Person } from '#clients/web/parts/person.tsx';
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

interface Props extends OrganizationProps {
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
    <Page
      title={`State of ${workspace}`}
      organization={organization}
      crumbs={[{ text: workspace, to: { view: 'workspace', organization, workspace, tab: 'states' } }, { text: id }]}
      live={live}
      what="state"
    >
      {(loaded) => <Version key={loaded.version.id} {...loaded} organization={organization} />}
    </Page>
  );
};

const Version = ({ version, workspace, versions, organization }: ViewData & OrganizationProps) => {
  const { attributes } = version;
  const { name, permissions } = workspace.attributes;
  const current = related(workspace, 'current-state-version') === version.id;
  const run = related(version, 'run');
  const source = related(version, 'rollback-state-version');
  const serialOf = (id: string): string => {
    const version = versions.find((version) => version.id === id);
    return version ? `serial ${version.attributes.serial}` : id;
  };
  const download = async () => {
    const response = await content(`/state-versions/${version.id}/download`);
    saveFile(await response.text(), `${name}-${attributes.serial}.tfstate`, 'application/json');
  };
  return (
    <>
      <Titled title={`Serial ${attributes.serial}`} beside={current && <span class="status good">Current</span>}>
        <ActionButton text="Download" work={download} />
        {!current && attributes.status === 'finalized' && permissions['can-create-state-versions'] && (
          <Rollback
            version={version}
            workspace={workspace}
            onDone={(versionId) => go({ view: 'state', organization, workspace: name, version: versionId })}
          />
        )}
      </Titled>
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
              run && [
                'Run',
                <a key="run" class="mono" href={hrefOf({ view: 'run', organization, workspace: name, run })}>
                  {run}
                </a>,
              ],
              source && [
                'Rolled back to',
                <a key="source" href={hrefOf({ view: 'state', organization, workspace: name, version: source })}>
                  {serialOf(source)}
                </a>,
              ],
              ['Terraform', attributes['terraform-version'] ?? '–'],
              ['Size', attributes.size === null ? '–' : bytes(attributes.size)],
              ['ID', <code key="id">{version.id}</code>],
            ]}
          />
        </aside>
      </div>
    </>
  );
};

type ComparedProps = Pick<ViewData, 'version' | 'versions'>;

const Compared = ({ version, versions }: ComparedProps) => {
  const others = versions.filter(({ id, attributes }) => id !== version.id && attributes.status === 'finalized');
  // By default, compare with the state before the apply, not with its snapshots.
  const older = others.find(
    ({ attributes }) => attributes.serial < version.attributes.serial && !attributes.intermediate,
  );
  const against = useSignal(older?.id ?? '');
  const live = useLive(`compare/${version.id}/${against.value}`, async () => {
    const [after, before] = await Promise.all([
      readState(version.id),
      against.value ? readState(against.value) : undefined,
    ]);
    return stateDifferences(before, after);
  });
  return (
    <section class="panel">
      <div class="pad row spread">
        <h2>Differences</h2>
        <label class="row">
          <span class="soft small">compared with</span>
          <select value={against.value} onChange={(event) => (against.value = event.currentTarget.value)}>
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
