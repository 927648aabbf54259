import type { Resource } from '#clients/client/client.ts';
import { type Live, useLive } from '#clients/web/live.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { ActionButton } from '#clients/web/parts/button.tsx';
import { Job } from '#clients/web/parts/job.tsx';
import { Log } from '#clients/web/parts/log.tsx';
import { Page } from '#clients/web/parts/page.tsx';
import { knowPeople } from '#clients/web/parts/person.tsx';
import { call, content } from '#clients/web/session.ts';
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

interface Props extends OrganizationProps {
  workspace: string;
  query: string;
}

/** One query: its results and Terraform's output. */
export const QueryView = ({ organization, workspace, query: id }: Props) => {
  const live = useLive(
    `query/${id}`,
    () => load(id),
    (query) => (isOver(query) ? undefined : 1_000),
  );
  return (
    <Page
      title={`Query in ${workspace}`}
      organization={organization}
      crumbs={[{ text: workspace, to: { view: 'workspace', organization, workspace, tab: 'queries' } }, { text: id }]}
      live={live}
      what="query"
    >
      {(query) => <QueryPage query={query} live={live} />}
    </Page>
  );
};

const QueryPage = ({ query, live }: { query: Query; live: Live<Query> }) => {
  const { attributes } = query;
  const over = isOver(query);
  return (
    <Job
      job={query}
      noun="query"
      title="Query"
      status={<QueryStatus query={query} />}
      actions={<Actions query={query} refresh={live.refresh} />}
      waits={attributes.status === 'pending' || attributes.status === 'queued'}
      began={attributes['status-timestamps']['running-at']}
      label="Results"
      facts={[
        ['Terraform', attributes['terraform-version']],
        ['Generates configuration', attributes['generate-config-out'] ? 'yes' : 'no'],
      ]}
      none="of the workspace"
    >
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
    </Job>
  );
};

const Actions = ({ query, refresh }: { query: Query; refresh(): void }) => {
  const { actions, status, 'generate-config-out': generates } = query.attributes;
  const act = (name: string) => () => call('POST', `/queries/${query.id}/actions/${name}`);
  const download = async () => {
    const response = await content(`/queries/${query.id}/generated-configuration`);
    saveFile(await response.text(), `${query.id}.tf`);
  };
  return (
    <>
      {actions['is-cancelable'] && <ActionButton text="Cancel" danger work={act('cancel')} onDone={refresh} />}
      {actions['is-force-cancelable'] && (
        <ActionButton text="Force cancel" danger work={act('force-cancel')} onDone={refresh} />
      )}
      {status === 'finished' && generates && (
        <ActionButton text="Download configuration" work={download} onDone={refresh} />
      )}
    </>
  );
};
