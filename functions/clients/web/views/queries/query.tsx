import type { Resource } from '#clients/client/client.ts';
import { type Live, useLive } from '#clients/web/live.ts';
import { useAction } from '#clients/web/parts/action.tsx';
import { Ago, Duration, Facts, Loaded, Notice } from '#clients/web/parts/basics.tsx';
import { Log } from '#clients/web/parts/log.tsx';
import { knowPeople, Person } from '#clients/web/parts/person.tsx';
import { Shell } from '#clients/web/parts/shell.tsx';
import { call, content, related } from '#clients/web/session.ts';
import { saveFile } from '#clients/web/text/save.ts';
import { QueryResults } from './results.tsx';
import { QueryStatus } from './status.tsx';

type Query = Resource<'queries'>;

const isOver = ({ attributes: { status } }: Query): boolean => !['pending', 'queued', 'running'].includes(status);

const load = async (id: string): Promise<Query> => {
  const { data, included } = await call<Query>('GET', `/queries/${encodeURIComponent(id)}?include=created_by`);
  knowPeople(included);
  return data;
};

/** One query: its results and Terraform's output. */
export const QueryView = ({
  organization,
  workspace,
  query: id,
}: {
  organization: string;
  workspace: string;
  query: string;
}) => {
  const live = useLive(
    `query/${id}`,
    () => load(id),
    (query) => (isOver(query) ? undefined : 1_000),
  );
  return (
    <Shell
      title={`Query in ${workspace}`}
      crumbs={[
        { text: organization, to: { view: 'workspaces', organization } },
        { text: workspace, to: { view: 'workspace', organization, workspace, tab: 'queries' } },
        { text: id },
      ]}
    >
      <Loaded live={live} what="query">
        {(query) => <QueryPage query={query} live={live} />}
      </Loaded>
    </Shell>
  );
};

const QueryPage = ({ query, live }: { query: Query; live: Live<Query> }) => {
  const { attributes } = query;
  const over = isOver(query);
  const waits = attributes.status === 'pending' || attributes.status === 'queued';
  return (
    <>
      <div class="row spread">
        <div class="grow stack tight">
          <div class="row">
            <h1>Query</h1>
            <QueryStatus query={query} />
          </div>
          <p class="soft break">
            <span class="mono">{query.id}</span> by <Person id={related(query, 'created-by')} />,{' '}
            <Ago at={attributes['created-at']} />
          </p>
        </div>
        <Actions query={query} refresh={live.refresh} />
      </div>
      {attributes['end-reason'] && <Notice kind="bad">{attributes['end-reason']}</Notice>}
      <div class="sides">
        <section class="panel" aria-label="Results">
          {waits ? (
            <p class="pad soft">Waiting for a runner …</p>
          ) : (
            <Log
              name="plan"
              what="query"
              url={attributes['log-read-url']}
              run={query}
              over={over}
              onEnd={live.refresh}
              // A new list each time, so that components render again.
              above={(log) => <QueryResults found={[...log.found]} over={over} />}
            />
          )}
        </section>
        <About query={query} />
      </div>
    </>
  );
};

const About = ({ query: { attributes } }: { query: Query }) => {
  const at = attributes['status-timestamps'];
  const began = at['running-at'];
  const ended = at['finished-at'] ?? at['errored-at'] ?? at['canceled-at'] ?? at['force-canceled-at'];
  return (
    <aside class="panel pad" aria-label="About this query">
      <Facts
        facts={[
          ['Duration', began ? <Duration key="took" from={began} to={ended} /> : 'not started'],
          ['Terraform', attributes['terraform-version']],
          ['Generates configuration', attributes['generate-config-out'] ? 'yes' : 'no'],
          [
            'Variables',
            attributes.variables.length
              ? attributes.variables.map(({ key, value }) => (
                  <code key={key} class="entry">
                    {key} = {value}
                  </code>
                ))
              : 'of the workspace',
          ],
        ]}
      />
    </aside>
  );
};

const Actions = ({ query, refresh }: { query: Query; refresh(): void }) => {
  const action = useAction();
  const { actions, status, 'generate-config-out': generates } = query.attributes;
  const perform = async (work: () => Promise<unknown>) => {
    await action.perform(work);
    refresh();
  };
  const act = (name: string) => perform(() => call('POST', `/queries/${query.id}/actions/${name}`));
  const download = async () => {
    const response = await content(`/queries/${query.id}/generated-configuration`);
    saveFile(await response.text(), `${query.id}.tf`);
  };
  return (
    <div class="stack tight">
      <div class="row">
        {actions['is-cancelable'] && (
          <button type="button" class="danger" onClick={() => act('cancel')}>
            Cancel
          </button>
        )}
        {actions['is-force-cancelable'] && (
          <button type="button" class="danger" onClick={() => act('force-cancel')}>
            Force cancel
          </button>
        )}
        {status === 'finished' && generates && (
          <button type="button" onClick={() => perform(download)}>
            Download configuration
          </button>
        )}
      </div>
      {action.failure}
    </div>
  );
};
