import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { go, hrefOf } from '#clients/web/location.ts';
import { Ago, Loaded } from '#clients/web/parts/basics.tsx';
import { Dialog } from '#clients/web/parts/dialog.tsx';
import { Choice, Form } from '#clients/web/parts/form.tsx';
import { knowPeople, Person } from '#clients/web/parts/person.tsx';
import { Picker } from '#clients/web/parts/picker.tsx';
import { call, create, related } from '#clients/web/session.ts';
import { configuration, type Picked, upload } from '#clients/web/upload.ts';
import { QueryStatus } from './status.tsx';

interface Props {
  workspace: Resource<'workspaces'>;
  organization: string;
}

const size = 50;
const everyMs = 3_000;

const load = async ({ id }: Resource<'workspaces'>): Promise<{ queries: Resource<'queries'>[]; total: number }> => {
  const path = `/workspaces/${id}/queries?include=created_by&page[size]=${size}`;
  const { data, included, meta } = await call<Resource<'queries'>[]>('GET', path);
  knowPeople(included);
  return { queries: data, total: meta?.pagination?.['total-count'] ?? data.length };
};

/** Runs of `terraform query` in a workspace. */
export const Queries = ({ workspace, organization }: Props) => {
  const live = useLive(
    `queries/${workspace.id}`,
    () => load(workspace),
    () => everyMs,
  );
  const starting = useSignal(false);
  return (
    <section class="stack">
      <div class="row spread">
        <p class="soft">Queries look for existing resources that Terraform does not manage yet.</p>
        {workspace.attributes.permissions['can-queue-run'] && (
          <button type="button" onClick={() => (starting.value = true)}>
            Run query
          </button>
        )}
      </div>
      <Loaded live={live} what="queries">
        {({ queries, total }) =>
          queries.length === 0 ? (
            <p class="panel pad soft">
              No queries yet. Add <code>list</code> blocks to a <code>.tfquery.hcl</code> file of the configuration,
              then run one here or with <code>terraform query</code>. It needs Terraform 1.14 or newer.
            </p>
          ) : (
            <>
              <ul class="panel list" aria-label="Queries">
                {queries.map((query) => (
                  <Line key={query.id} query={query} workspace={workspace} organization={organization} />
                ))}
              </ul>
              {total > queries.length && (
                <p class="soft">
                  The latest {queries.length} of {total}.
                </p>
              )}
            </>
          )
        }
      </Loaded>
      {starting.value && (
        <NewQuery workspace={workspace} organization={organization} onClose={() => (starting.value = false)} />
      )}
    </section>
  );
};

const Line = ({ query, workspace, organization }: Props & { query: Resource<'queries'> }) => (
  <li>
    <a
      class="item"
      href={hrefOf({ view: 'query', organization, workspace: workspace.attributes.name, query: query.id })}
    >
      <span class="title mono">{query.id}</span>
      <span class="meta">
        by <Person id={related(query, 'created-by')} /> · Terraform {query.attributes['terraform-version']}
      </span>
      <span class="end">
        <QueryStatus query={query} />
        <span class="meta">
          <Ago at={query.attributes['created-at']} />
        </span>
      </span>
    </a>
  </li>
);

const NewQuery = ({ workspace, organization, onClose }: Props & { onClose(): void }) => {
  const source = useSignal<Picked | undefined>(undefined);
  const submit = async (data: FormData) => {
    const id = source.value && (await upload(workspace.id, source.value, true));
    const query = await create(
      '/queries',
      'queries',
      { source: 'tfe-ui', 'generate-config-out': data.has('generate') },
      {
        workspace: { data: { type: 'workspaces', id: workspace.id } },
        ...(id ? { 'configuration-version': { data: { type: 'configuration-versions', id } } } : {}),
      },
    );
    go({ view: 'query', organization, workspace: workspace.attributes.name, query: query.id });
  };
  return (
    <Dialog title={`Run a query in ${workspace.attributes.name}`} onClose={onClose}>
      <Form submit="Run query" onSubmit={submit} onCancel={onClose}>
        <Picker
          label="Configuration"
          source={source}
          kind={configuration}
          says="Uses the latest configuration of this workspace, unless you choose another one. Its .tfquery.hcl files define the resources to look for."
        />
        <Choice
          name="generate"
          label="Generate configuration"
          hint="For each resource found: a resource block and an import block."
          checked
        />
      </Form>
    </Dialog>
  );
};
