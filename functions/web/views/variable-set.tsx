import { useSignal } from '@preact/signals';
import type { Resource } from '../../cli/client.ts';
import { type Live, useLive } from '../live.ts';
import { go, hrefOf } from '../location.ts';
import { Loaded, Notice } from '../parts/basics.tsx';
import { Dialog, Form, textOf } from '../parts/form.tsx';
import { Shell } from '../parts/shell.tsx';
import { all, call, change, saying } from '../session.ts';
import { SetFields } from './variable-sets.tsx';
import { SetVariables } from './variables.tsx';

interface Known {
  set: Resource;
  /** Those it is applied to by name. */
  workspaces: Resource[];
}

const load = async (id: string): Promise<Known> => {
  const { data, included = [] } = await call('GET', `/varsets/${encodeURIComponent(id)}?include=workspaces`);
  return { set: data, workspaces: included.filter(({ type }) => type === 'workspaces') };
};

/** One set: its variables, and which workspaces have them. */
export const VariableSetView = ({ organization, id }: { organization: string; id: string }) => {
  const live = useLive(
    `variable-set/${id}`,
    () => load(id),
    () => 15_000,
  );
  return (
    <Shell
      title={live.value?.set.attributes.name ?? 'Variable set'}
      crumbs={[
        { text: organization, to: { view: 'workspaces', organization } },
        { text: 'Variable sets', to: { view: 'variable-sets', organization } },
        { text: live.value?.set.attributes.name ?? id },
      ]}
    >
      <Loaded live={live} what="variable set">
        {(known) => <VariableSet {...known} organization={organization} live={live} />}
      </Loaded>
    </Shell>
  );
};

const VariableSet = ({ set, workspaces, organization, live }: Known & { organization: string; live: Live<Known> }) => {
  const asking = useSignal<'change' | 'delete' | undefined>(undefined);
  const { name, description, permissions, global } = set.attributes;
  const close = () => {
    asking.value = undefined;
  };
  return (
    <>
      <div class="row spread">
        <div class="grow">
          <h1>{name}</h1>
          {description && <p class="soft break">{description}</p>}
        </div>
        {permissions['can-update'] && (
          <div class="row">
            <button
              type="button"
              onClick={() => {
                asking.value = 'change';
              }}
            >
              Change
            </button>
            <button
              type="button"
              class="danger"
              onClick={() => {
                asking.value = 'delete';
              }}
            >
              Delete
            </button>
          </div>
        )}
      </div>
      <div class="sides">
        <SetVariables set={set} organization={organization} />
        <aside class="panel pad stack" aria-label="Where it is applied">
          <h2>Applied to</h2>
          {global ? (
            <p>Every workspace of {organization}.</p>
          ) : (
            <Applied set={set} workspaces={workspaces} organization={organization} onChange={live.refresh} />
          )}
        </aside>
      </div>
      {asking.value === 'change' && (
        <Dialog title={`Change ${name}`} onClose={close}>
          <Form
            submit="Save"
            onCancel={close}
            onSubmit={async (data) => {
              await change(`/varsets/${set.id}`, 'varsets', {
                name: textOf(data, 'name'),
                description: textOf(data, 'description') ?? '',
                global: data.has('global'),
                priority: data.has('priority'),
              });
              close();
              live.refresh();
            }}
          >
            <SetFields set={set} />
          </Form>
        </Dialog>
      )}
      {asking.value === 'delete' && (
        <Dialog title={`Delete ${name}?`} onClose={close}>
          <Form
            submit="Delete variable set"
            danger
            onCancel={close}
            onSubmit={async () => {
              await call('DELETE', `/varsets/${set.id}`);
              go({ view: 'variable-sets', organization });
            }}
          >
            <p>Runs that are queued from now on will not have its variables.</p>
          </Form>
        </Dialog>
      )}
    </>
  );
};

const Applied = ({ set, workspaces, organization, onChange }: Known & { organization: string; onChange(): void }) => {
  const error = useSignal<string | undefined>(undefined);
  const may = set.attributes.permissions['can-update'];
  const every = useLive(
    `names/${organization}`,
    async () =>
      (await all(`/organizations/${organization}/workspaces`)).data.map(({ id, attributes }) => ({
        id,
        name: attributes.name as string,
      })),
    () => 60_000,
  );
  const relate = async (method: 'POST' | 'DELETE', id: string) => {
    error.value = undefined;
    try {
      await call(method, `/varsets/${set.id}/relationships/workspaces`, { data: [{ type: 'workspaces', id }] });
    } catch (caught) {
      error.value = saying(caught);
    }
    onChange();
  };
  const others = every.value?.filter(({ id }) => !workspaces.some((one) => one.id === id)) ?? [];
  return (
    <>
      {workspaces.length === 0 && <p class="soft">No workspace yet.</p>}
      <ul class="stack tight">
        {workspaces.map(({ id, attributes }) => (
          <li key={id} class="row spread">
            <a href={hrefOf({ view: 'workspace', organization, workspace: attributes.name, tab: 'variables' })}>
              {attributes.name}
            </a>
            {may && (
              <button
                type="button"
                class="small-button"
                aria-label={`Take it from ${attributes.name}`}
                onClick={() => relate('DELETE', id)}
              >
                Remove
              </button>
            )}
          </li>
        ))}
      </ul>
      {may && others.length > 0 && (
        <select
          aria-label="Apply to a workspace"
          value=""
          onChange={(event) => {
            const { value } = event.currentTarget;
            event.currentTarget.value = '';
            if (value) relate('POST', value);
          }}
        >
          <option value="">Apply to …</option>
          {others.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
      {error.value && <Notice kind="bad">{error.value}</Notice>}
    </>
  );
};
