import type { Resource } from '#clients/client/client.ts';
import type { Live } from '#clients/web/live.ts';
import { itemsOf, type OrganizationProps, useItems } from '#clients/web/organization.ts';
import { Attached, relating } from '#clients/web/parts/attached.tsx';
import { Managed, Single, type SingleAddress } from '#clients/web/parts/managed.tsx';
import { call } from '#clients/web/session.ts';
import { SetFields } from './variable-sets.tsx';
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
export const VariableSetView = (at: SingleAddress) => (
  <Single {...at} view="variable-set" load={() => load(at.id)} thing={({ set }) => set}>
    {(loaded, live) => <VariableSet {...loaded} organization={at.organization} live={live} />}
  </Single>
);

const VariableSet = (props: ViewData & OrganizationProps & { live: Live<ViewData> }) => {
  const { set, workspaces, organization, live } = props;
  const { permissions, global } = set.attributes;
  const mayChange = permissions['can-update'];
  const others = useItems(organization, 'workspaces', mayChange && !global);
  return (
    <>
      <Managed
        view="variable-set"
        organization={organization}
        resource={set}
        mayChange={mayChange}
        fields={() => <SetFields />}
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
              may={mayChange}
              none="No workspaces yet. Apply the set to one to use its variables there."
              adding="Apply to a workspace"
              prompt="Apply to …"
              noun="workspace"
              {...relating(`/varsets/${set.id}/relationships/workspaces`)}
              onChange={live.refresh}
            />
          )}
        </aside>
      </div>
    </>
  );
};
