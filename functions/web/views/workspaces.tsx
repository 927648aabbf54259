import { type Signal, useComputed, useSignal } from '@preact/signals';
import type { Resource } from '../../cli/client.ts';
import { displayStatus, type Tone } from '../../run/display.ts';
import { useLive } from '../live.ts';
import { hrefOf } from '../location.ts';
import { may, organizationNow } from '../organization.ts';
import { Ago, Loaded } from '../parts/basics.tsx';
import { CloudBlock } from '../parts/cloud-block.tsx';
import { Head } from '../parts/head.tsx';
import { OrganizationShell } from '../parts/organization-shell.tsx';
import { Person } from '../parts/person.tsx';
import { factsOf, Status, since } from '../parts/status.tsx';
import { all, related } from '../session.ts';
import { count } from '../text/time.ts';
import { NewWorkspace } from './new-workspace.tsx';

/** Each workspace with the state of the run it is processing, else of its latest completed run (seeds/000). */

type Group = 'attention' | 'running' | 'bad' | 'good' | 'idle';

const groups: [Group, string][] = [
  ['attention', 'Needs attention'],
  ['bad', 'Errored'],
  ['running', 'Running'],
  ['good', 'Applied'],
  ['idle', 'Idle'],
];

const groupOf = (run: Resource | undefined): Group => {
  if (!run) return 'idle';
  const of: Record<Tone, Group> = {
    attention: 'attention',
    running: 'running',
    waiting: 'running',
    bad: 'bad',
    good: 'good',
    neutral: 'idle',
  };
  return of[displayStatus(factsOf(run)).tone];
};

interface Row {
  workspace: Resource;
  run: Resource | undefined;
  group: Group;
}

const load = async (organization: string): Promise<Row[]> => {
  const { data, included } = await all(`/organizations/${organization}/workspaces?include=current_run`);
  const runs = new Map(included.map((resource) => [resource.id, resource]));
  return data.map((workspace) => {
    const run = runs.get(related(workspace, 'current-run') ?? '');
    return { workspace, run, group: groupOf(run) };
  });
};

/** A list of hundreds is several requests. */
const pace = (rows: Row[]): number => {
  const busy = rows.some(({ group }) => group === 'running');
  return (busy ? 900 : 2_500) * Math.max(1, Math.ceil(rows.length / 100));
};

const order = new Map(groups.map(([group], i) => [group, i]));

export const Workspaces = ({ organization }: { organization: string }) => {
  const list = useLive(`workspaces/${organization}`, () => load(organization), pace);
  const adding = useSignal(false);
  return (
    <OrganizationShell organization={organization} at="workspaces">
      <Head
        title="Workspaces"
        add="New workspace"
        onAdd={may(organization, 'can-create-workspace') && (() => (adding.value = true))}
      />
      <Loaded live={list} what={`workspaces of ${organization}`}>
        {(rows) =>
          rows.length ? <Table rows={rows} organization={organization} /> : <Empty organization={organization} />
        }
      </Loaded>
      {adding.value && <NewWorkspace organization={organization} onClose={() => (adding.value = false)} />}
    </OrganizationShell>
  );
};

const Table = ({ rows, organization }: { rows: Row[]; organization: string }) => {
  const search = useSignal('');
  const only = useSignal<Group | undefined>(undefined);
  const project = useSignal('');
  const words = useComputed(() => search.value.toLowerCase().split(/\s+/).filter(Boolean));
  const fits = ({ workspace, group }: Row) => {
    const { attributes } = workspace;
    const text = [attributes.name, attributes.description ?? '', ...attributes['tag-names']].join(' ').toLowerCase();
    return (
      (!only.value || only.value === group) &&
      (!project.value || related(workspace, 'project') === project.value) &&
      words.value.every((word) => text.includes(word))
    );
  };
  const shown = rows
    .filter(fits)
    .sort((a, b) => (order.get(a.group) === 0 ? 0 : 1) - (order.get(b.group) === 0 ? 0 : 1));
  return (
    <section class="stack">
      <div class="row">
        <input
          type="search"
          aria-label="Search by name, description or tag"
          placeholder="Search by name or tag"
          onInput={(event) => (search.value = event.currentTarget.value)}
        />
        <ProjectFilter organization={organization} chosen={project} />
        <fieldset class="chips" aria-label="Show only">
          {groups.map(([group, name]) => {
            const n = rows.filter((row) => row.group === group).length;
            return n === 0 && only.value !== group ? null : (
              <button
                key={group}
                type="button"
                class="chip"
                aria-pressed={only.value === group}
                onClick={() => (only.value = only.value === group ? undefined : group)}
              >
                {name} {n}
              </button>
            );
          })}
        </fieldset>
      </div>
      {shown.length === 0 && <p class="soft">No workspace fits.</p>}
      <ul class="panel list" aria-label="Workspaces" hidden={shown.length === 0}>
        {shown.map(({ workspace, run }) => (
          <Line key={workspace.id} workspace={workspace} run={run} organization={organization} />
        ))}
      </ul>
    </section>
  );
};

const ProjectFilter = ({ organization, chosen }: { organization: string; chosen: Signal<string> }) => {
  const projects = useLive(
    `projects/${organization}`,
    async () => (await all(`/organizations/${organization}/projects`)).data,
    () => undefined,
  );
  if (!projects.value || projects.value.length < 2) return null;
  return (
    <select
      aria-label="Project"
      value={chosen.value}
      onChange={(event) => {
        chosen.value = event.currentTarget.value;
      }}
    >
      <option value="">All projects</option>
      {projects.value.map(({ id, attributes }) => (
        <option key={id} value={id}>
          {attributes.name}
        </option>
      ))}
    </select>
  );
};

const Line = ({
  workspace,
  run,
  organization,
}: {
  workspace: Resource;
  run: Resource | undefined;
  organization: string;
}) => {
  const { name, locked, 'tag-names': tags, 'resource-count': resources } = workspace.attributes;
  const held = locked && related(workspace, 'locked-by')?.startsWith('user-');
  return (
    <li>
      <a class="item" href={hrefOf({ view: 'workspace', organization, workspace: name, tab: 'overview' })}>
        <span class="row">
          <span class="title">{name}</span>
          {held && <span class="tag">locked</span>}
          {(tags as string[]).slice(0, 4).map((tag) => (
            <span key={tag} class="tag only-wide">
              {tag}
            </span>
          ))}
        </span>
        <span class="meta">
          {count(resources, 'resource')}
          {run && (
            <>
              {' · '}
              <span class="break">{run.attributes.message}</span>
            </>
          )}
        </span>
        <span class="end">
          {run ? <Status run={run} /> : <span class="status">No runs yet</span>}
          {run && (
            <span class="meta">
              <Ago at={since(run)} />
              <span class="only-wide">
                {' by '}
                <Person id={related(run, 'created-by')} />
              </span>
            </span>
          )}
        </span>
      </a>
    </li>
  );
};

/** The next step, for who may take it. */
const Empty = ({ organization }: { organization: string }) => {
  const permissions = organizationNow(organization)?.attributes.permissions;
  if (!permissions) return null;
  if (!permissions['can-create-workspace']) {
    return (
      <section class="panel empty">
        <h2>There is no workspace for you yet</h2>
        <p class="soft">
          What you see depends on the teams you are in. Ask an owner of {organization} to put you into one that has
          access to what you work on.
        </p>
      </section>
    );
  }
  return (
    <section class="panel empty">
      <h2>Your first workspace</h2>
      <p class="soft">
        A workspace is one configuration with its state, its variables and its runs. Make one with the button above, or
        let Terraform make it: paste this into a configuration and give the workspace the name you like.
      </p>
      <CloudBlock organization={organization} workspace="example" />
    </section>
  );
};
