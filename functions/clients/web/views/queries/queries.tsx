import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { go } from '#clients/web/location.ts';
import type { WorkspaceProps } from '#clients/web/organization.ts';
import { Ago, Loaded } from '#clients/web/parts/basics.tsx';
import { DialogButton } from '#clients/web/parts/button.tsx';
import { FormDialog } from '#clients/web/parts/dialog.tsx';
import { Choice, type Values } from '#clients/web/parts/fields.tsx';
import { Item, List } from '#clients/web/parts/list.tsx';
import { knowPeople, Person } from '#clients/web/parts/person.tsx';
import { Picker } from '#clients/web/parts/picker.tsx';
import { call, create, related } from '#clients/web/session.ts';
import { configuration, type Picked, upload } from '#clients/web/upload.ts';
import { QueryStatus } from './status.tsx';

const size = 50;

const load = async ({ id }: Resource<'workspaces'>): Promise<{ queries: Resource<'queries'>[]; total: number }> => {
  const path = `/workspaces/${id}/queries?include=created_by&page[size]=${size}`;
  const { data, included, meta } = await call<Resource<'queries'>[]>('GET', path);
  knowPeople(included);
  return { queries: data, total: meta?.pagination?.['total-count'] ?? data.length };
};

/** Runs of `terraform query` in a workspace. */
export const Queries = ({ workspace, organization }: WorkspaceProps) => {
  const { name, permissions } = workspace.attributes;
  const live = useLive(`queries/${workspace.id}`, () => load(workspace), 3_000);
  return (
    <section class="stack">
      <div class="row spread">
        <p class="soft">Queries look for existing resources that Terraform does not manage yet.</p>
        {permissions['can-queue-run'] && (
          <DialogButton text="Run query">
            {(close) => <NewQuery workspace={workspace} organization={organization} onClose={close} />}
          </DialogButton>
        )}
      </div>
      <Loaded live={live} what="queries">
        {({ queries, total }) =>
          queries.length === 0 ? (
            <p class="panel pad soft">
              No queries yet.
              {permissions['can-queue-run'] && (
                <>
                  {' '}
                  Add <code>list</code> blocks to a <code>.tfquery.hcl</code> file of the configuration, then run one
                  here or with <code>terraform query</code>. It needs Terraform 1.14 or newer.
                </>
              )}
            </p>
          ) : (
            <>
              <List label="Queries" of={queries}>
                {(query) => (
                  <Item
                    key={query.id}
                    to={{ view: 'query', organization, workspace: name, query: query.id }}
                    title={<span class="title mono">{query.id}</span>}
                    meta={
                      <>
                        by <Person id={related(query, 'created-by')} /> · Terraform{' '}
                        {query.attributes['terraform-version']}
                      </>
                    }
                    end={<QueryStatus query={query} />}
                    notes={[<Ago key="at" at={query.attributes['created-at']} />]}
                  />
                )}
              </List>
              {total > queries.length && (
                <p class="soft">
                  The latest {queries.length} of {total}.
                </p>
              )}
            </>
          )
        }
      </Loaded>
    </section>
  );
};

const NewQuery = ({ workspace, organization, onClose }: WorkspaceProps & { onClose(): void }) => {
  const source = useSignal<Picked | undefined>(undefined);
  const { name } = workspace.attributes;
  const submit = async (_: FormData, fields: Values) => {
    const id = source.value && (await upload(workspace.id, source.value, true));
    const attributes = { source: 'tfe-ui', ...fields };
    const query = await create('/queries', 'queries', attributes, {
      workspace: { data: { type: 'workspaces', id: workspace.id } },
      'configuration-version': id ? { data: { type: 'configuration-versions', id } } : undefined,
    });
    go({ view: 'query', organization, workspace: name, query: query.id });
  };
  return (
    <FormDialog title={`Run a query in ${name}`} submit="Run query" onSubmit={submit} onClose={onClose}>
      <Picker
        label="Configuration"
        source={source}
        kind={configuration}
        says="Uses the latest configuration of this workspace, unless you choose another one. Its .tfquery.hcl files define the resources to look for."
      />
      <Choice
        name="generate-config-out"
        label="Generate configuration"
        hint="For each resource found: a resource block and an import block."
        initial
      />
    </FormDialog>
  );
};
