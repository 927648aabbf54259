import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { useEntry } from '#clients/web/editing.ts';
import { useLive } from '#clients/web/live.ts';
import { hrefOf } from '#clients/web/location.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { Confirm, Dialog } from '#clients/web/parts/dialog.tsx';
import { Choice, Form, Select } from '#clients/web/parts/form.tsx';
import { SmallButton } from '#clients/web/parts/small-button.tsx';
import { all, call, change, create, related } from '#clients/web/session.ts';
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
  const live = useLive(
    `access/${on.id}`,
    () => load(on),
    () => 30_000,
  );
  const { editing, removing, close } = useEntry<TeamGrant>(live.refresh);
  return (
    <section class="panel pad stack" aria-label="Team access">
      <h2>Team access</h2>
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
                <Line
                  key={access.grant.id}
                  {...access}
                  on={on}
                  onEdit={() => (editing.value = access)}
                  onRemove={() => (removing.value = access)}
                />
              ))}
            </ul>
            {on.may && free.length > 0 && (
              <div>
                <button type="button" onClick={() => (editing.value = 'new')}>
                  Add team access
                </button>
              </div>
            )}
            {editing.value && (
              <EditAccess
                on={on}
                granted={editing.value === 'new' ? undefined : editing.value}
                free={free}
                onClose={close}
              />
            )}
          </>
        )}
      </Loaded>
      {removing.value && (
        <Confirm
          title={`Remove the access of ${removing.value.team?.attributes.name}?`}
          yes="Remove access"
          onYes={() => call('DELETE', `/team-${on.what}s/${removing.value?.grant.id}`)}
          onClose={close}
        >
          <p>The team loses access immediately. Runs that its members queued continue.</p>
        </Confirm>
      )}
    </section>
  );
};

interface LineProps extends TeamGrant {
  on: On;
  onEdit(): void;
  onRemove(): void;
}

const Line = ({ grant, team, on, onEdit, onRemove }: LineProps) => {
  const name = team?.attributes.name ?? related(grant, 'team');
  return (
    <li class="row spread">
      <span class="break">
        <a href={hrefOf({ view: 'team', organization: on.organization, id: related(grant, 'team') ?? '' })}>{name}</a>{' '}
        <span class="tag">{grant.attributes.access}</span>
      </span>
      {on.may && (
        <span class="row">
          <SmallButton text="Change" of={`the access of ${name}`} onClick={onEdit} />
          <SmallButton text="Remove" of={`the access of ${name}`} onClick={onRemove} />
        </span>
      )}
    </li>
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
  granted: TeamGrant | undefined;
  free: Resource<'teams'>[];
  onClose(): void;
}

const EditAccess = ({ on: { what, id }, granted, free, onClose }: EditProps) => {
  const parts = granted ? partsOf(granted.grant) : {};
  const level = useSignal<string>(granted?.grant.attributes.access ?? 'read');
  const submit = async (data: FormData) => {
    const type = `team-${what}s`;
    const attributes = attributesOf(data, what);
    await (granted
      ? change(`/${type}/${granted.grant.id}`, type, attributes)
      : create(`/${type}`, type, attributes, {
          team: { data: { type: 'teams', id: data.get('team') } },
          [what]: { data: { type: `${what}s`, id } },
        }));
    onClose();
  };
  const isProject = what === 'project';
  return (
    <Dialog title={granted ? `Access of ${granted.team?.attributes.name}` : 'Add team access'} onClose={onClose}>
      <Form submit={granted ? 'Save' : 'Add access'} onSubmit={submit} onCancel={onClose}>
        {!granted && <Select label="Team" name="team" options={free.map((team) => [team.id, team.attributes.name])} />}
        <Select
          label="Access"
          name="access"
          options={isProject ? projectLevels : workspaceLevels}
          value={level.value}
          onChange={(value) => (level.value = value)}
        />
        {level.value === 'custom' && (
          <>
            {[...(isProject ? projectParts : []), ...workspaceParts].map(({ name, label, options }) => (
              <Select
                key={name}
                label={label}
                name={name}
                options={options.map(([value, text]) => [value, text])}
                value={String(parts[name] ?? options[0]?.[0])}
              />
            ))}
            {[...(isProject ? projectSwitches : []), ...workspaceSwitches].map(([name, label]) => (
              <Choice key={name} name={name} label={label} checked={parts[name] === true} />
            ))}
          </>
        )}
        <Choice
          name="policy-overrides"
          label="Override policies"
          checked={parts['policy-overrides'] === true}
          hint="Requires the organization permission to delegate policy overrides."
        />
      </Form>
    </Dialog>
  );
};
