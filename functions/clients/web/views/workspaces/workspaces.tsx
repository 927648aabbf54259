import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { isManaged } from '#clients/client/managed.ts';
import { count } from '#clients/client/text/time.ts';
import { lazily, WaitingPart } from '#clients/web/lazily.tsx';
import { pollMs, useLive } from '#clients/web/live.ts';
import { useQuery } from '#clients/web/location.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { SmallButton } from '#clients/web/parts/button.tsx';
import { useProjects } from '#clients/web/parts/filters.tsx';
import { LongList } from '#clients/web/parts/list.tsx';
import { OrganizationShell } from '#clients/web/parts/organization-shell.tsx';
import { related } from '#clients/web/session.ts';
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
  const read = useMemo(() => workspaceList(organization), [organization]);
  const list = useLive(`workspaces/${organization}`, read, pollMs);
  return (
    <OrganizationShell
      organization={organization}
      at="workspaces"
      action={<NewWorkspaceButton organization={organization} />}
    >
      <Loaded live={list} what={`workspaces of ${organization}`}>
        {(rows) => <Listed rows={rows} organization={organization} onChange={list.refresh} />}
      </Loaded>
    </OrganizationShell>
  );
};

/** Workspaces of environments and templates are shown on request. */
const Listed = ({ rows, organization, onChange }: TableProps) => {
  const managed = useQuery('managed');
  const own = rows.filter(({ workspace }) => !isManaged(workspace));
  const hidden = rows.length - own.length;
  const shown = managed.value ? rows : own;
  return (
    <>
      {shown.length ? (
        <Table rows={shown} organization={organization} onChange={onChange} />
      ) : (
        <NoWorkspaces organization={organization} />
      )}
      {hidden > 0 && (
        <p class="row soft">
          {count(hidden, 'workspace')} of environments and templates
          <SmallButton
            text={managed.value ? 'Hide' : 'Show'}
            of="workspaces of environments"
            onClick={() => (managed.value = managed.value ? '' : 'yes')}
          />
        </p>
      )}
    </>
  );
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
