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
import { UsersWithAccess } from './access-report.tsx';

/** Team access to a workspace or project. */

interface On {
  what: 'workspace' | 'project';
  id: string;
  organization: string;
  may: boolean;
  /** The workspace's project. */
  project?: string | undefined;
}

interface TeamGrant {
  grant: Resource<'team-workspaces' | 'team-projects'>;
  team: Resource<'teams'> | undefined;
}

interface ViewData {
  granted: TeamGrant[];
  /** Teams without access yet. */
  free: Resource<'teams'>[];
  /** Teams with access from elsewhere: the workspace's project, the organization. */
  inherited: Inherited[];
}

interface Inherited {
  team: Resource<'teams'>;
  access: string;
  from: 'project' | 'organization';
}

/** The widest access of a team to all workspaces or projects of the organization. */
const everywhere = ({ attributes }: Resource<'teams'>, what: On['what']): string | undefined => {
  const flags = attributes['organization-access'];
  if (attributes.name === 'owners') return 'full access';
  if (flags['manage-projects'] || (what === 'workspace' && flags['manage-workspaces'])) return 'admin';
  return flags['read-projects'] || (what === 'workspace' && flags['read-workspaces']) ? 'read' : undefined;
};

const load = async ({ what, id, organization, project }: On): Promise<ViewData> => {
  const [grants, teams, ofProject] = await Promise.all([
    all<'team-workspaces' | 'team-projects'>(`/team-${what}s?filter[${what}][id]=${id}`),
    all<'teams'>(`/organizations/${organization}/teams`),
    // Users of a single workspace may not see its project.
    project ? all<'team-projects'>(`/team-projects?filter[project][id]=${project}`).catch(() => undefined) : undefined,
  ]);
  const inherited = teams.data.flatMap((team): Inherited[] => {
    const access = everywhere(team, what);
    const granted = ofProject?.data.find((grant) => related(grant, 'team') === team.id);
    return [
      ...(access ? [{ team, access, from: 'organization' } as const] : []),
      ...(granted ? [{ team, access: granted.attributes.access, from: 'project' } as const] : []),
    ];
  });
  const granted = grants.data.map((grant) => ({
    grant,
    team: teams.data.find((team) => team.id === related(grant, 'team')),
  }));
  const teamIds = new Set(granted.map(({ team }) => team?.id));
  return {
    granted,
    inherited,
    free: teams.data.filter(({ id: teamId, attributes }) => !teamIds.has(teamId) && attributes.name !== 'owners'),
  };
};

export const TeamAccess = (on: On) => {
  const live = useLive(`access/${on.id}`, () => load(on), 30_000);
  const close = live.refresh;
  return (
    <Panel title="Team access">
      {on.what === 'project' && <p class="soft">Applies to the project and all its workspaces.</p>}
      <Loaded live={live} what="team access">
        {({ granted, free, inherited }) => (
          <>
            <ul class="stack tight">
              {granted.map((access) => (
                <Granted key={access.grant.id} {...access} on={on} onClose={close} />
              ))}
              {inherited.map(({ team: { id, attributes }, access, from }) => (
                <Line
                  key={`${from} ${id}`}
                  title={
                    <>
                      <a href={hrefOf({ view: 'team', organization: on.organization, id })}>{attributes.name}</a>{' '}
                      <Tags of={[access]} />
                    </>
                  }
                  about={`From its access to the ${from}`}
                />
              ))}
            </ul>
            <div class="row">
              {on.may && free.length > 0 && (
                <DialogButton text="Add team access" onClose={close}>
                  {(close) => <EditAccess on={on} free={free} onClose={close} />}
                </DialogButton>
              )}
              <UsersWithAccess what={on.what} id={on.id} organization={on.organization} />
            </div>
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
