import type { Resource } from '#clients/client/client.ts';
import { addStyle } from '#clients/web/lazily.tsx';
import { useLive } from '#clients/web/live.ts';
import { hrefOf } from '#clients/web/location.ts';
import type { OrganizationProps, WorkspaceProps } from '#clients/web/organization.ts';
import { Loaded, Value } from '#clients/web/parts/basics.tsx';
import { DialogButton } from '#clients/web/parts/button.tsx';
import { DeleteButton } from '#clients/web/parts/dialog.tsx';
import { Table, Tags } from '#clients/web/parts/list.tsx';
import { all, related } from '#clients/web/session.ts';
import variablesStyle from '#clients/web/style/variables.css' with { type: 'text' };
import { natural } from '#clients/web/text/lists.ts';
import { EditVariable } from './edit-variable.tsx';
import { ImportVariables } from './import-variables.tsx';

addStyle(variablesStyle);

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

export const WorkspaceVariables = ({ workspace, organization }: WorkspaceProps) => (
  <Variables
    path={`/workspaces/${workspace.id}/vars`}
    load={() => ofWorkspace(workspace)}
    may={workspace.attributes.permissions['can-update-variable']}
    organization={organization}
  />
);

export const SetVariables = ({ set, organization }: OrganizationProps & { set: Resource<'varsets'> }) => (
  <Variables
    path={`/varsets/${set.id}/relationships/vars`}
    may={set.attributes.permissions['can-update']}
    organization={organization}
  />
);

interface ParametersProps extends OrganizationProps {
  set: Resource<'policy-sets'>;
  may: boolean;
}

/** Parameters of a policy set. */
export const Parameters = ({ set, organization, may }: ParametersProps) => (
  <Variables path={`/policy-sets/${set.id}/parameters`} may={may} organization={organization} only="policy-set" />
);

/** Environment variables of a module's tests. */
export const TestVariables = ({ path, organization }: OrganizationProps & { path: string }) => (
  <Variables path={path} may organization={organization} only="env" />
);

interface Props extends OrganizationProps {
  /** API path of the editable variables. */
  path: string;
  /** Default: the variables at the path. */
  load?(): Promise<ViewData>;
  may: boolean;
  /** Fixed category. */
  only?: 'policy-set' | 'env';
}

const ofPath = async (path: string): Promise<ViewData> => ({
  variables: (await all<'vars'>(path)).data.sort(byName),
  setNames: new Map(),
});

const Variables = ({ path, load = () => ofPath(path), may, organization, only }: Props) => {
  const noun = only === 'policy-set' ? 'parameter' : 'variable';
  const live = useLive(path, load, 15_000);
  const shown = live.value;
  return (
    <section class="stack">
      <div class="row spread">
        <p class="soft">Runs use the values from when they were queued. Changes affect new runs only.</p>
        {may && (
          <div class="row">
            {!only && shown && (
              <DialogButton text="Import .tfvars" onClose={live.refresh}>
                {(close) => <ImportVariables path={path} {...sortedByOrigin(shown)} onClose={close} />}
              </DialogButton>
            )}
            <DialogButton text={`Add ${noun}`} onClose={live.refresh}>
              {(close) => <EditVariable path={path} only={only} onClose={close} />}
            </DialogButton>
          </div>
        )}
      </div>
      <Loaded live={live} what={`${noun}s`}>
        {({ variables, setNames }) =>
          variables.length === 0 ? (
            <p class="panel pad soft">
              <None only={only} may={may} />
            </p>
          ) : (
            <div class="panel scrolls">
              <Table class="stacks" heads={['Name', 'Value', ...(only ? [] : ['Kind']), { hidden: 'Change' }]}>
                {variables.map((variable) => (
                  <Line
                    key={variable.id}
                    variable={variable}
                    set={setNames.get(related(variable, 'varset') ?? '')}
                    organization={organization}
                    path={path}
                    may={may}
                    only={only}
                    onChange={live.refresh}
                  />
                ))}
              </Table>
            </div>
          )
        }
      </Loaded>
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

const None = ({ only, may }: Pick<Props, 'only' | 'may'>) => {
  if (!may && !only) return <>No variables yet.</>;
  if (only === 'env') return <>No environment variables yet.</>;
  return only ? (
    <>
      No parameters yet. Rego policies read them by name from <code>data.params</code>; Sentinel policies declare them
      with <code>param</code>.
    </>
  ) : (
    <>
      No variables yet. Add values for your configuration’s <code>variable</code> blocks, and provider credentials as
      environment variables.
    </>
  );
};

interface LineProps extends Omit<Props, 'load'> {
  variable: Resource<'vars'>;
  /** Name of the set that it comes from. */
  set: string | undefined;
  onChange(): void;
}

const Line = ({ variable, set, organization, path, may, only, onChange }: LineProps) => {
  const { key, description, sensitive, value, category, hcl } = variable.attributes;
  const beaten = related(variable, 'overwriter') !== undefined;
  return (
    <tr class={beaten ? 'beaten' : undefined}>
      <th scope="row" class="break">
        <span class="mono">{key}</span>
        <Tags of={[beaten && 'overridden']} />
        {description && <div class="soft small">{description}</div>}
      </th>
      <td class="break">{sensitive ? <span class="soft">sensitive</span> : <Value text={value} />}</td>
      {!only && (
        <td class="nowrap">
          {category === 'env' ? 'environment' : 'Terraform'}
          {hcl && ', HCL'}
        </td>
      )}
      <td>
        {set ? (
          <span class="small">
            from{' '}
            <a href={hrefOf({ view: 'variable-set', organization, id: related(variable, 'varset') ?? '' })}>{set}</a>
          </span>
        ) : (
          may && (
            <div class="row ends">
              <DialogButton small text="Edit" of={key} onClose={onChange}>
                {(close) => <EditVariable path={path} variable={variable} only={only} onClose={close} />}
              </DialogButton>
              <DeleteButton of={key} noun="variable" path={`${path}/${variable.id}`} onClose={onChange}>
                Queued runs keep its value. New runs do not use it.
              </DeleteButton>
            </div>
          )
        )}
      </td>
    </tr>
  );
};
