import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { useEntry } from '#clients/web/editing.ts';
import { useLive } from '#clients/web/live.ts';
import { hrefOf } from '#clients/web/location.ts';
import { Loaded, Value } from '#clients/web/parts/basics.tsx';
import { SmallButton } from '#clients/web/parts/small-button.tsx';
import { all, related } from '#clients/web/session.ts';
import { natural } from '#clients/web/text/lists.ts';
import { DeleteVariable, EditVariable } from './edit-variable.tsx';
import { ImportVariables } from './import-variables.tsx';

/** Terraform and environment variables. Sensitive values are write-only. */

interface ViewData {
  /** The workspace's own variables first, then those from sets. */
  variables: Resource<'vars'>[];
  setNames: Map<string, string>;
}

const byName = (a: Resource<'vars'>, b: Resource<'vars'>): number =>
  natural.compare(a.attributes.key, b.attributes.key);

const ofWorkspace = async ({ id }: Resource<'workspaces'>): Promise<ViewData> => {
  const [effective, sets] = await Promise.all([
    all<'vars'>(`/workspaces/${id}/all-vars?include=overwritten`),
    all<'varsets'>(`/workspaces/${id}/varsets`),
  ]);
  const isOwn = (variable: Resource<'vars'>) => related(variable, 'workspace') === id;
  const overwritten = (effective.included ?? []) as Resource<'vars'>[];
  const variables = [...effective.data, ...overwritten].sort(byName);
  return {
    variables: [...variables.filter(isOwn), ...variables.filter((variable) => !isOwn(variable))],
    setNames: new Map(sets.data.map((set) => [set.id, set.attributes.name])),
  };
};

export const WorkspaceVariables = ({
  workspace,
  organization,
}: {
  workspace: Resource<'workspaces'>;
  organization: string;
}) => (
  <Variables
    path={`/workspaces/${workspace.id}/vars`}
    load={() => ofWorkspace(workspace)}
    may={workspace.attributes.permissions['can-update-variable']}
    organization={organization}
  />
);

export const SetVariables = ({ set, organization }: { set: Resource<'varsets'>; organization: string }) => {
  const path = `/varsets/${set.id}/relationships/vars`;
  return (
    <Variables
      path={path}
      load={async () => ({ variables: (await all<'vars'>(path)).data.sort(byName), setNames: new Map() })}
      may={set.attributes.permissions['can-update']}
      organization={organization}
    />
  );
};

/** Parameters of a policy set. */
export const Parameters = ({
  set,
  organization,
  may,
}: {
  set: Resource<'policy-sets'>;
  organization: string;
  may: boolean;
}) => {
  const path = `/policy-sets/${set.id}/parameters`;
  return (
    <Variables
      path={path}
      load={async () => ({ variables: (await all<'vars'>(path)).data.sort(byName), setNames: new Map() })}
      may={may}
      organization={organization}
      only="policy-set"
    />
  );
};

/** Environment variables of a module's tests. */
export const TestVariables = ({ path, organization }: { path: string; organization: string }) => (
  <Variables
    path={path}
    load={async () => ({ variables: (await all<'vars'>(path)).data.sort(byName), setNames: new Map() })}
    may
    organization={organization}
    only="env"
  />
);

interface Props {
  /** API path of the editable variables. */
  path: string;
  load(): Promise<ViewData>;
  may: boolean;
  organization: string;
  /** Fixed category. */
  only?: 'policy-set' | 'env';
}

const Variables = ({ path, load, may, organization, only }: Props) => {
  const parameters = only === 'policy-set';
  const live = useLive(path, load, () => 15_000);
  const importing = useSignal(false);
  const { editing, removing, close } = useEntry<Resource<'vars'>>(() => {
    importing.value = false;
    live.refresh();
  });
  return (
    <section class="stack">
      <div class="row spread">
        <p class="soft">Runs use the values from when they were queued. Changes affect new runs only.</p>
        {may && (
          <div class="row">
            {!only && live.value && (
              <button type="button" onClick={() => (importing.value = true)}>
                Import .tfvars
              </button>
            )}
            <button type="button" onClick={() => (editing.value = 'new')}>
              Add {parameters ? 'parameter' : 'variable'}
            </button>
          </div>
        )}
      </div>
      <Loaded live={live} what={parameters ? 'parameters' : 'variables'}>
        {({ variables, setNames }) =>
          variables.length === 0 ? (
            <p class="panel pad soft">
              <None only={only} />
            </p>
          ) : (
            <div class="panel scrolls">
              <table class="stacks">
                <thead>
                  <tr>
                    <th scope="col">Name</th>
                    <th scope="col">Value</th>
                    {!only && <th scope="col">Kind</th>}
                    <th scope="col">
                      <span class="visually-hidden">Change</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {variables.map((variable) => (
                    <Line
                      key={variable.id}
                      variable={variable}
                      set={setNames.get(related(variable, 'varset') ?? '')}
                      organization={organization}
                      may={may}
                      showsKind={!only}
                      onEdit={() => (editing.value = variable)}
                      onDelete={() => (removing.value = variable)}
                    />
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Loaded>
      {editing.value && (
        <EditVariable
          path={path}
          variable={editing.value === 'new' ? undefined : editing.value}
          only={only}
          onClose={close}
        />
      )}
      {importing.value && live.value && <ImportVariables path={path} {...sortedByOrigin(live.value)} onClose={close} />}
      {removing.value && <DeleteVariable path={path} variable={removing.value} onClose={close} />}
    </section>
  );
};

const sortedByOrigin = ({ variables, setNames }: ViewData) => {
  const setOf = (variable: Resource<'vars'>) => setNames.get(related(variable, 'varset') ?? '');
  return {
    own: variables.filter((variable) => setOf(variable) === undefined),
    ofSets: variables.flatMap((variable): [Resource<'vars'>, string][] => {
      const set = setOf(variable);
      return set === undefined ? [] : [[variable, set]];
    }),
  };
};

const None = ({ only }: Pick<Props, 'only'>) => {
  if (only === 'policy-set') return <NoParameters />;
  return only === 'env' ? <>No environment variables yet.</> : <NoVariables />;
};

const NoVariables = () => (
  <>
    No variables yet. Add values for your configuration’s <code>variable</code> blocks, and provider credentials as
    environment variables.
  </>
);

const NoParameters = () => (
  <>
    No parameters yet. Rego policies read them by name from <code>data.params</code>; Sentinel policies declare them
    with <code>param</code>.
  </>
);

interface LineProps {
  variable: Resource<'vars'>;
  /** Name of the set that it comes from. */
  set: string | undefined;
  organization: string;
  may: boolean;
  showsKind: boolean;
  onEdit(): void;
  onDelete(): void;
}

const Line = ({ variable, set, organization, may, showsKind, onEdit, onDelete }: LineProps) => {
  const { attributes } = variable;
  const beaten = related(variable, 'overwriter') !== undefined;
  return (
    <tr class={beaten ? 'beaten' : undefined}>
      <th scope="row" class="break">
        <span class="mono">{attributes.key}</span>
        {beaten && <span class="tag">overridden</span>}
        {attributes.description && <div class="soft small">{attributes.description}</div>}
      </th>
      <td class="break">
        {attributes.sensitive ? <span class="soft">sensitive</span> : <Value text={attributes.value} />}
      </td>
      {showsKind && (
        <td class="nowrap">
          {attributes.category === 'env' ? 'environment' : 'Terraform'}
          {attributes.hcl && ', HCL'}
        </td>
      )}
      <td>
        {set ? (
          <span class="small nowrap">
            from{' '}
            <a href={hrefOf({ view: 'variable-set', organization, id: related(variable, 'varset') ?? '' })}>{set}</a>
          </span>
        ) : (
          may && (
            <div class="row ends">
              <SmallButton text="Edit" of={attributes.key} onClick={onEdit} />
              <SmallButton text="Delete" of={attributes.key} danger onClick={onDelete} />
            </div>
          )
        )}
      </td>
    </tr>
  );
};
