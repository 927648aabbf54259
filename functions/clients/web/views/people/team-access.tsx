import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { hrefOf } from '#clients/web/location.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { DialogButton } from '#clients/web/parts/button.tsx';
import { DeleteButton, FormDialog } from '#clients/web/parts/dialog.tsx';
import { Choice, Select } from '#clients/web/parts/fields.tsx';
import { Line, Tags } from '#clients/web/parts/list.tsx';
import { Panel } from '#clients/web/parts/section.tsx';
import { all, change, create, related } from '#clients/web/session.ts';
import {
  projectLevels,
  projectParts,
  projectSwitches,
  workspaceLevels,
  workspaceParts,
  workspaceSwitches,
} from '#clients/web/text/access.ts';

/** Team access to a workspace or project. */

interface On {
  what: 'workspace' | 'project';
  id: string;
  organization: string;
  may: boolean;
}

interface TeamGrant {
  grant: Resource<'team-workspaces' | 'team-projects'>;
  team: Resource<'teams'> | undefined;
}

interface ViewData {
  granted: TeamGrant[];
  /** Teams without access yet. */
  free: Resource<'teams'>[];
}

const load = async ({ what, id, organization }: On): Promise<ViewData> => {
  const [grants, teams] = await Promise.all([
    all<'team-workspaces' | 'team-projects'>(`/team-${what}s?filter[${what}][id]=${id}`),
    all<'teams'>(`/organizations/${organization}/teams`),
  ]);
  const granted = grants.data.map((grant) => ({
    grant,
    team: teams.data.find((team) => team.id === related(grant, 'team')),
  }));
  const teamIds = new Set(granted.map(({ team }) => team?.id));
  return {
    granted,
    free: teams.data.filter(({ id: teamId, attributes }) => !teamIds.has(teamId) && attributes.name !== 'owners'),
  };
};

export const TeamAccess = (on: On) => {
  const live = useLive(`access/${on.id}`, () => load(on), 30_000);
  const close = live.refresh;
  return (
    <Panel title="Team access">
      <p class="soft">
        {on.what === 'workspace'
          ? 'In addition to project and organization access. Owners have full access.'
          : 'Applies to the project and all its workspaces. Owners have full access.'}
      </p>
      <Loaded live={live} what="team access">
        {({ granted, free }) => (
          <>
            <ul class="stack tight">
              {granted.map((access) => (
                <Granted key={access.grant.id} {...access} on={on} onClose={close} />
              ))}
            </ul>
            {on.may && free.length > 0 && (
              <div>
                <DialogButton text="Add team access" onClose={close}>
                  {(close) => <EditAccess on={on} free={free} onClose={close} />}
                </DialogButton>
              </div>
            )}
          </>
        )}
      </Loaded>
    </Panel>
  );
};

const Granted = ({ on, onClose, ...access }: TeamGrant & { on: On; onClose(): void }) => {
  const { grant, team } = access;
  const id = related(grant, 'team') ?? '';
  const name = team?.attributes.name ?? id;
  const of = `the access of ${name}`;
  return (
    <Line
      title={
        <>
          <a href={hrefOf({ view: 'team', organization: on.organization, id })}>{name}</a>{' '}
          <Tags of={[grant.attributes.access]} />
        </>
      }
    >
      {on.may && (
        <>
          <DialogButton small text="Change" of={of} onClose={onClose}>
            {(close) => <EditAccess on={on} granted={access} onClose={close} />}
          </DialogButton>
          <DeleteButton
            text="Remove"
            of={of}
            noun="access"
            path={`/team-${on.what}s/${grant.id}`}
            danger={false}
            onClose={onClose}
          >
            The team loses access immediately. Runs that its members queued continue.
          </DeleteButton>
        </>
      )}
    </Line>
  );
};

/** Parts of a grant by form field. Fields are named as in the API, except the project's `locking`. */
const partsOf = ({ attributes }: Resource): Record<string, unknown> => {
  const inside = attributes['workspace-access'];
  return inside ? { ...attributes['project-access'], ...inside, 'workspace-locking': inside.locking } : attributes;
};

const attributesOf = (data: FormData, kind: On['what']): Record<string, unknown> => {
  const access = data.get('access');
  const overrides = { 'policy-overrides': data.has('policy-overrides') };
  const isProject = kind === 'project';
  if (access !== 'custom') return { access, ...(isProject ? { 'workspace-access': overrides } : overrides) };
  const chosenParts = (parts: readonly { name: string }[]) =>
    Object.fromEntries(parts.map(({ name }) => [name, data.get(name)]));
  const ticked = (options: readonly (readonly [string, ...unknown[]])[]) =>
    Object.fromEntries(options.map(([name]) => [name, data.has(name)]));
  const workspace = { ...chosenParts(workspaceParts), ...ticked(workspaceSwitches), ...overrides };
  if (!isProject) return { access, ...workspace };
  const { 'workspace-locking': locking, ...rest } = workspace as Record<string, unknown>;
  return {
    access,
    'project-access': chosenParts(projectParts),
    'workspace-access': { ...rest, locking, ...ticked(projectSwitches) },
  };
};

interface EditProps {
  on: On;
  granted?: TeamGrant;
  free?: Resource<'teams'>[];
  onClose(): void;
}

const EditAccess = ({ on: { what, id }, granted, free = [], onClose }: EditProps) => {
  const parts = granted ? partsOf(granted.grant) : {};
  const level = useSignal<string>(granted?.grant.attributes.access ?? 'read');
  const submit = (data: FormData) => {
    const type = `team-${what}s`;
    const attributes = attributesOf(data, what);
    return granted
      ? change(`/${type}/${granted.grant.id}`, type, attributes)
      : create(`/${type}`, type, attributes, {
          team: { data: { type: 'teams', id: data.get('team') } },
          [what]: { data: { type: `${what}s`, id } },
        });
  };
  const isProject = what === 'project';
  return (
    <FormDialog
      title={granted ? `Access of ${granted.team?.attributes.name}` : 'Add team access'}
      submit={granted ? 'Save' : 'Add access'}
      values={parts}
      onSubmit={submit}
      onClose={onClose}
    >
      {!granted && <Select label="Team" name="team" options={free.map((team) => [team.id, team.attributes.name])} />}
      <Select label="Access" name="access" options={isProject ? projectLevels : workspaceLevels} chosen={level} />
      {level.value === 'custom' && (
        <>
          {[...(isProject ? projectParts : []), ...workspaceParts].map(({ name, label, options }) => (
            <Select key={name} label={label} name={name} options={options.map(([value, text]) => [value, text])} />
          ))}
          {[...(isProject ? projectSwitches : []), ...workspaceSwitches].map(([name, label]) => (
            <Choice key={name} name={name} label={label} />
          ))}
        </>
      )}
      <Choice
        name="policy-overrides"
        label="Override policies"
        hint="Requires the organization permission to delegate policy overrides."
      />
    </FormDialog>
  );
};
