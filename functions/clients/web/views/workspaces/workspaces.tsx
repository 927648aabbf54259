import { type Signal, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Resource } from '#clients/client/client.ts';
import { lazily, WaitingPart } from '#clients/web/lazily.tsx';
import { pollMs, useLive } from '#clients/web/live.ts';
import { useQuery } from '#clients/web/location.ts';
import { may, type OrganizationProps } from '#clients/web/organization.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { SmallButton } from '#clients/web/parts/button.tsx';
import { useProjects } from '#clients/web/parts/filters.tsx';
import { LongList } from '#clients/web/parts/list.tsx';
import { OrganizationShell } from '#clients/web/parts/organization-shell.tsx';
import { call, related } from '#clients/web/session.ts';
import type { Row } from '#clients/web/text/workspace-rows.ts';
import { workspaceList } from '#clients/web/workspace-list.ts';
import { NewWorkspaceButton, NoWorkspaces } from './no-workspaces.tsx';
import { FilterFields, GroupFilter, useWorkspaceFilters } from './workspace-filters.tsx';
import { WorkspaceLine } from './workspace-line.tsx';

const BulkActions = lazily(
  () => import('#clients/web/groups/workspace.ts'),
  (group) => group.BulkActions,
  WaitingPart,
);

export const Workspaces = ({ organization }: OrganizationProps) => {
  const managed = useQuery('managed');
  const isWhole = managed.value !== '';
  const read = useMemo(() => workspaceList(organization, isWhole), [organization, isWhole]);
  const list = useLive(`workspaces/${organization}${isWhole ? ' with environments' : ''}`, read, pollMs);
  return (
    <OrganizationShell
      organization={organization}
      at="workspaces"
      action={<NewWorkspaceButton organization={organization} />}
    >
      <Loaded live={list} what={`workspaces of ${organization}`}>
        {(rows) => (
          <>
            {rows.length ? (
              <Table rows={rows} organization={organization} onChange={list.refresh} />
            ) : (
              <NoWorkspaces organization={organization} />
            )}
            <OfEnvironments organization={organization} shown={managed} />
          </>
        )}
      </Loaded>
    </OrganizationShell>
  );
};

/** Workspaces of environments and templates are listed on request. Without templates, nothing is read. */
const OfEnvironments = ({ organization, shown }: OrganizationProps & { shown: Signal<string> }) =>
  may(organization, 'can-use-environments') && <ShowManaged organization={organization} shown={shown} />;

const ShowManaged = ({ organization, shown }: OrganizationProps & { shown: Signal<string> }) => {
  const path = `/organizations/${organization}/workspaces?filter[managed]=true&page[size]=1`;
  const first = useLive(path, () => call<Resource[]>('GET', path), undefined);
  return (first.value?.data.length ?? 0) > 0 ? (
    <p class="row soft">
      Workspaces of environments and templates are {shown.value ? 'listed' : 'hidden'}
      <SmallButton
        text={shown.value ? 'Hide' : 'Show'}
        of="workspaces of environments"
        onClick={() => (shown.value = shown.value ? '' : 'yes')}
      />
    </p>
  ) : null;
};

interface TableProps extends OrganizationProps {
  rows: Row[];
  onChange(): void;
}

const Table = ({ rows, organization, onChange }: TableProps) => {
  const filters = useWorkspaceFilters(rows);
  const projects = useProjects(organization);
  const selecting = useSignal(false);
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const { shown } = filters;
  return (
    <section class="stack">
      <div class="row">
        <FilterFields filters={filters} rows={rows} projects={projects} />
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
        <GroupFilter {...filters} />
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
        choice={filters.choice}
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
