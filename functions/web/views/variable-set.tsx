import { useSignal } from '@preact/signals';
import type { Resource } from '../../cli/client.ts';
import { type Live, useLive } from '../live.ts';
import { go } from '../location.ts';
import { itemsOf, useItems } from '../organization.ts';
import { Attached } from '../parts/attached.tsx';
import { Loaded } from '../parts/basics.tsx';
import { Confirm, Dialog } from '../parts/dialog.tsx';
import { Form, textOf } from '../parts/form.tsx';
import { Titled } from '../parts/head.tsx';
import { Shell } from '../parts/shell.tsx';
import { call, change } from '../session.ts';
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
  const others = useItems(organization, 'workspaces', permissions['can-update'] && !global);
  const close = () => {
    asking.value = undefined;
  };
  const relate = (method: 'POST' | 'DELETE', one: string) =>
    call(method, `/varsets/${set.id}/relationships/workspaces`, { data: [{ type: 'workspaces', id: one }] });
  return (
    <>
      <Titled
        title={name}
        description={description}
        onEdit={permissions['can-update'] && (() => (asking.value = 'change'))}
        onDelete={permissions['can-update'] && (() => (asking.value = 'delete'))}
      />
      <div class="sides">
        <SetVariables set={set} organization={organization} />
        <aside class="panel pad stack" aria-label="Where it is applied">
          <h2>Applied to</h2>
          {global ? (
            <p>Every workspace of {organization}.</p>
          ) : (
            <Attached
              items={itemsOf(workspaces, organization, 'workspaces', 'variables')}
              others={others}
              may={permissions['can-update']}
              none="No workspace yet."
              adding="Apply to a workspace"
              prompt="Apply to …"
              removing={(one) => `Take it from ${one}`}
              onAdd={(one) => relate('POST', one)}
              onRemove={(one) => relate('DELETE', one)}
              onChange={live.refresh}
            />
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
        <Confirm
          title={`Delete ${name}?`}
          yes="Delete variable set"
          onYes={async () => {
            await call('DELETE', `/varsets/${set.id}`);
            go({ view: 'variable-sets', organization });
          }}
          onClose={close}
        >
          <p>Runs that are queued from now on will not have its variables.</p>
        </Confirm>
      )}
    </>
  );
};
