import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { lazily, WaitingPart } from '#clients/web/lazily.tsx';
import { pollMs, useLive } from '#clients/web/live.ts';
import { may, type OrganizationProps, organizationNow } from '#clients/web/organization.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { DialogButton } from '#clients/web/parts/button.tsx';
import { CloudBlock } from '#clients/web/parts/cloud-block.tsx';
import { useProjects } from '#clients/web/parts/filters.tsx';
import { LongList } from '#clients/web/parts/list.tsx';
import { NoAccess } from '#clients/web/parts/no-access.tsx';
import { OrganizationShell } from '#clients/web/parts/organization-shell.tsx';
import { Empty } from '#clients/web/parts/section.tsx';
import { related } from '#clients/web/session.ts';
import type { Row } from '#clients/web/text/workspace-rows.ts';
import { workspaceList } from '#clients/web/workspace-list.ts';
import { FilterFields, GroupFilter, useWorkspaceFilters } from './workspace-filters.tsx';
import { WorkspaceLine } from './workspace-line.tsx';

const load = () => import('#clients/web/groups/workspace.ts');
const BulkActions = lazily(load, (group) => group.BulkActions, WaitingPart);
const NewWorkspace = lazily(load, (group) => group.NewWorkspace, WaitingPart);

export const Workspaces = ({ organization }: OrganizationProps) => {
  const read = useMemo(() => workspaceList(organization), [organization]);
  const list = useLive(`workspaces/${organization}`, read, pollMs);
  return (
    <OrganizationShell
      organization={organization}
      at="workspaces"
      action={
        may(organization, 'can-create-workspace') && (
          <DialogButton text="New workspace" primary>
            {(close) => <NewWorkspace organization={organization} onClose={close} />}
          </DialogButton>
        )
      }
    >
      <Loaded live={list} what={`workspaces of ${organization}`}>
        {(rows) =>
          rows.length ? (
            <Table rows={rows} organization={organization} onChange={list.refresh} />
          ) : (
            <NoWorkspaces organization={organization} />
          )
        }
      </Loaded>
    </OrganizationShell>
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

/** Empty state with the next step, depending on permissions. */
const NoWorkspaces = ({ organization }: OrganizationProps) => {
  const permissions = organizationNow(organization)?.attributes.permissions;
  if (!permissions) return null;
  if (!permissions['can-create-workspace']) return <NoAccess organization={organization} />;
  return (
    <Empty title="Your first workspace">
      <p class="soft">
        A workspace is one configuration with its state, variables and runs. Create one with the button above, or add
        this block to your Terraform configuration and choose a workspace name.
      </p>
      <CloudBlock organization={organization} workspace="example" />
    </Empty>
  );
};
