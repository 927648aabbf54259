import { type Signal, useComputed, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { lazily, WaitingPart } from '../../lazily.tsx';
import { pollInterval, useLive } from '../../live.ts';
import { useQuery } from '../../location.ts';
import { may, organizationNow } from '../../organization.ts';
import { Loaded } from '../../parts/basics.tsx';
import { CloudBlock } from '../../parts/cloud-block.tsx';
import { Filter, ProjectFilter, useProjects } from '../../parts/filters.tsx';
import { Head } from '../../parts/head.tsx';
import { LongList } from '../../parts/long-list.tsx';
import { OrganizationShell } from '../../parts/organization-shell.tsx';
import { since } from '../../parts/status.tsx';
import { related } from '../../session.ts';
import { problemsOf } from '../../text/health.ts';
import type { Group, Row } from '../../text/workspace-rows.ts';
import { workspaceList } from '../../workspace-list.ts';
import { WorkspaceLine } from './workspace-line.tsx';

const load = () => import('../../groups/workspace.ts');
const BulkActions = lazily(load, (group) => group.BulkActions, WaitingPart);
const NewWorkspace = lazily(load, (group) => group.NewWorkspace, WaitingPart);

const groups: [Group, string][] = [
  ['attention', 'Needs attention'],
  ['bad', 'Errored'],
  ['running', 'Running'],
  ['good', 'Applied'],
  ['idle', 'Idle'],
];

export const Workspaces = ({ organization }: { organization: string }) => {
  const read = useMemo(() => workspaceList(organization), [organization]);
  const list = useLive(`workspaces/${organization}`, read, pollInterval);
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
          rows.length ? (
            <Table rows={rows} organization={organization} onChange={list.refresh} />
          ) : (
            <Empty organization={organization} />
          )
        }
      </Loaded>
      {adding.value && <NewWorkspace organization={organization} onClose={() => (adding.value = false)} />}
    </OrganizationShell>
  );
};

const tagsOf = ({ workspace }: Row): string[] => workspace.attributes['tag-names'];

/** By what the reader wants to see first; attention comes first otherwise. */
const orders: Record<string, [name: string, compare: (a: Row, b: Row) => number]> = {
  name: ['Name', (a, b) => natural.compare(nameOf(a), nameOf(b))],
  changed: ['Last changed', (a, b) => changedAt(b) - changedAt(a)],
  resources: [
    'Most resources',
    (a, b) => b.workspace.attributes['resource-count'] - a.workspace.attributes['resource-count'],
  ],
};

const natural = new Intl.Collator('en', { numeric: true });
const nameOf = ({ workspace }: Row): string => workspace.attributes.name;
const changedAt = ({ workspace, run }: Row): number =>
  Date.parse(run ? since(run) : workspace.attributes['latest-change-at']);
const attentionFirst = (a: Row, b: Row): number =>
  (a.group === 'attention' ? 0 : 1) - (b.group === 'attention' ? 0 : 1) || natural.compare(nameOf(a), nameOf(b));

interface TableProps {
  rows: Row[];
  organization: string;
  onChange(): void;
}

const Table = ({ rows, organization, onChange }: TableProps) => {
  const search = useQuery('search');
  const only = useQuery('state');
  const tag = useQuery('tag');
  const project = useQuery('project');
  const order = useQuery('sort');
  const projects = useProjects(organization);
  const selecting = useSignal(false);
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const health = useQuery('health');
  const words = useComputed(() => search.value.toLowerCase().split(/\s+/).filter(Boolean));
  const fits = (row: Row) => {
    const { attributes } = row.workspace;
    const text = [attributes.name, attributes.description ?? '', ...tagsOf(row)].join(' ').toLowerCase();
    return (
      (!tag.value || tagsOf(row).includes(tag.value)) &&
      (!health.value || problemsOf(row.health).some(({ text }) => text === health.value)) &&
      (!project.value || related(row.workspace, 'project') === project.value) &&
      words.value.every((word) => text.includes(word))
    );
  };
  const fitting = rows.filter(fits);
  const shown = fitting
    .filter((row) => !only.value || only.value === row.group)
    .sort(orders[order.value]?.[1] ?? attentionFirst);
  return (
    <section class="stack">
      <div class="row">
        <input
          type="search"
          aria-label="Search by name, description or tag"
          placeholder="Search by name or tag"
          value={search.value}
          onInput={(event) => (search.value = event.currentTarget.value)}
        />
        <ProjectFilter projects={projects} chosen={project} />
        <Filter
          label="Tag"
          all="All tags"
          chosen={tag}
          options={[...new Set(rows.flatMap(tagsOf))].sort().map((name) => [name, name])}
        />
        <HealthFilter rows={rows} chosen={health} />
        <Filter
          label="Sort"
          all="Attention first"
          chosen={order}
          options={Object.entries(orders).map(([value, [name]]) => [value, name])}
        />
        <button
          type="button"
          class="small-button"
          aria-pressed={selecting.value}
          onClick={() => {
            selecting.value = !selecting.value;
            chosen.value = new Set();
          }}
        >
          Select
        </button>
        <fieldset class="chips" aria-label="Show only">
          {groups.map(([group, name]) => {
            const n = fitting.filter((row) => row.group === group).length;
            return n === 0 && only.value !== group ? null : (
              <button
                key={group}
                type="button"
                class="chip"
                aria-pressed={only.value === group}
                onClick={() => (only.value = only.value === group ? '' : group)}
              >
                {name} {n}
              </button>
            );
          })}
        </fieldset>
      </div>
      {selecting.value && (
        <BulkActions
          organization={organization}
          chosen={chosen}
          workspaces={shown.map(({ workspace }) => workspace)}
          onDone={onChange}
        />
      )}
      {shown.length === 0 && <p class="soft">No workspaces match the filters.</p>}
      <LongList
        of={shown}
        choice={`${search.value} ${only.value} ${tag.value} ${project.value} ${health.value}`}
        list={(lines) => (
          <ul class="panel list" aria-label="Workspaces" hidden={lines.length === 0}>
            {lines}
          </ul>
        )}
      >
        {({ workspace, run, health }) => (
          <WorkspaceLine
            key={workspace.id}
            workspace={workspace}
            run={run}
            health={health}
            organization={organization}
            project={projects.get(related(workspace, 'project') ?? '')}
            chosen={selecting.value ? chosen : undefined}
          />
        )}
      </LongList>
    </section>
  );
};

const findings = ['Drifted', 'Checks failed', 'Assessment failed'];

/** Only where there is something to find. */
const HealthFilter = ({ rows, chosen }: { rows: Row[]; chosen: Signal<string> }) => {
  const present = new Set(rows.flatMap(({ health }) => problemsOf(health).map(({ text }) => text)));
  if (present.size === 0 && !chosen.value) return null;
  const options = findings.filter((one) => present.has(one) || one === chosen.value);
  return <Filter label="Health" all="Any health" chosen={chosen} options={options.map((one) => [one, one])} />;
};

/** The next step, for who may take it. */
const Empty = ({ organization }: { organization: string }) => {
  const permissions = organizationNow(organization)?.attributes.permissions;
  if (!permissions) return null;
  if (!permissions['can-create-workspace']) {
    return (
      <section class="panel empty">
        <h2>No workspaces available</h2>
        <p class="soft">
          Your teams have no access to workspaces. Ask an owner of {organization} to add you to a team with access.
        </p>
      </section>
    );
  }
  return (
    <section class="panel empty">
      <h2>Your first workspace</h2>
      <p class="soft">
        A workspace is one configuration with its state, variables and runs. Create one with the button above, or add
        this block to your Terraform configuration and choose a workspace name.
      </p>
      <CloudBlock organization={organization} workspace="example" />
    </section>
  );
};
