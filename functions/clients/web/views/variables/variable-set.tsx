import type { Resource } from '#clients/client/client.ts';
import type { Live } from '#clients/web/live.ts';
import { itemsOf, useItems } from '#clients/web/organization.ts';
import { Attached } from '#clients/web/parts/attached.tsx';
import { Managed, Single } from '#clients/web/parts/managed.tsx';
import { call } from '#clients/web/session.ts';
import { SetFields, setOf } from './variable-sets.tsx';
import { SetVariables } from './variables.tsx';

interface ViewData {
  set: Resource<'varsets'>;
  /** Workspaces that the set is applied to. */
  workspaces: Resource<'workspaces'>[];
}

const load = async (id: string): Promise<ViewData> => {
  const { data, included = [] } = await call('GET', `/varsets/${encodeURIComponent(id)}?include=workspaces`);
  return { set: data, workspaces: included.filter(({ type }) => type === 'workspaces') };
};

/** One variable set: its variables and scope. */
export const VariableSetView = ({ organization, id }: { organization: string; id: string }) => {
  return (
    <Single
      what="variable set"
      id={id}
      organization={organization}
      list={{ text: 'Variable sets', to: { view: 'variable-sets', organization } }}
      load={() => load(id)}
      thing={({ set }) => set}
    >
      {(loaded, live) => <VariableSet {...loaded} organization={organization} live={live} />}
    </Single>
  );
};

const VariableSet = ({
  set,
  workspaces,
  organization,
  live,
}: ViewData & { organization: string; live: Live<ViewData> }) => {
  const { permissions, global } = set.attributes;
  const others = useItems(organization, 'workspaces', permissions['can-update'] && !global);
  const relate = (method: 'POST' | 'DELETE', workspaceId: string) =>
    call(method, `/varsets/${set.id}/relationships/workspaces`, { data: [{ type: 'workspaces', id: workspaceId }] });
  return (
    <>
      <Managed
        what="variable set"
        thing={set}
        list={{ view: 'variable-sets', organization }}
        mayChange={permissions['can-update']}
        mayDelete={permissions['can-update']}
        attributesOf={setOf}
        fields={(basis) => <SetFields set={basis} />}
        consequence="Queued runs keep its variables. New runs do not use them."
        onChange={live.refresh}
      />
      <div class="sides">
        <SetVariables set={set} organization={organization} />
        <aside class="panel pad stack" aria-label="Scope">
          <h2>Applied to</h2>
          {global ? (
            <p>All workspaces of {organization}.</p>
          ) : (
            <Attached
              items={itemsOf(workspaces, organization, 'workspaces', 'variables')}
              others={others}
              may={permissions['can-update']}
              none="No workspaces yet. Apply the set to one to use its variables there."
              adding="Apply to a workspace"
              prompt="Apply to …"
              removing={(name) => `workspace ${name}`}
              onAdd={(id) => relate('POST', id)}
              onRemove={(id) => relate('DELETE', id)}
              onChange={live.refresh}
            />
          )}
        </aside>
      </div>
    </>
  );
};
