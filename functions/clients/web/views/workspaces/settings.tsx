import { count } from '#clients/client/text/time.ts';
import { go } from '#clients/web/location.ts';
import type { WorkspaceProps } from '#clients/web/organization.ts';
import { Notice } from '#clients/web/parts/basics.tsx';
import { ConfirmButton } from '#clients/web/parts/dialog.tsx';
import { Choice } from '#clients/web/parts/fields.tsx';
import { Panel } from '#clients/web/parts/section.tsx';
import { call, related } from '#clients/web/session.ts';
import { TeamAccess } from '../people/team-access.tsx';
import { WorkspaceTasks } from '../run-tasks/workspace-tasks.tsx';
import { RunTriggers } from '../runs/run-triggers.tsx';
import { Repository } from '../version-control/repository.tsx';
import { AutoDestroy } from './auto-destroy.tsx';
import { GeneralSettings } from './general-settings.tsx';
import { Notifications } from './notifications.tsx';

/** Settings of a workspace, and its deletion. */
export const Settings = ({ workspace, organization, onChange }: WorkspaceProps & { onChange(): void }) => {
  const { permissions } = workspace.attributes;
  return (
    <div class="halves">
      <section class="panel pad stack">
        <GeneralSettings workspace={workspace} organization={organization} onChange={onChange} />
      </section>
      <div class="stack">
        <Repository workspace={workspace} organization={organization} onChange={onChange} />
        <WorkspaceTasks workspace={workspace} organization={organization} />
        {permissions['can-manage-ephemeral-workspaces'] && <AutoDestroy workspace={workspace} onChange={onChange} />}
        {permissions['can-update'] && <Notifications workspace={workspace} />}
        <RunTriggers workspace={workspace} organization={organization} />
        {permissions['can-update'] && (
          <TeamAccess
            what="workspace"
            id={workspace.id}
            organization={organization}
            project={related(workspace, 'project')}
            may
          />
        )}
        {permissions['can-destroy'] && <Danger workspace={workspace} organization={organization} />}
      </div>
    </div>
  );
};

const Danger = ({ workspace, organization }: WorkspaceProps) => {
  const { name, 'resource-count': resources } = workspace.attributes;
  const remove = async (data: FormData) => {
    const path = `/workspaces/${workspace.id}`;
    await (data.has('force') ? call('DELETE', path) : call('POST', `${path}/actions/safe-delete`, {}));
    go({ view: 'workspaces', organization });
  };
  return (
    <Panel title="Delete this workspace">
      <p class="soft">
        Its runs, variables and states can be recovered for seven days, in the settings of the organization. Real
        infrastructure stays: queue a destroy run first to remove it.
      </p>
      <div>
        <ConfirmButton text="Delete workspace" title={`Delete ${name}?`} yes="Delete" typed={name} onYes={remove}>
          {resources > 0 && (
            <>
              <Notice kind="warn">
                Its state manages <strong>{count(resources, 'resource')}</strong>. Without the state, Terraform can no
                longer change or destroy them.
              </Notice>
              <Choice name="force" label="Delete it even though it manages resources" />
            </>
          )}
        </ConfirmButton>
      </div>
    </Panel>
  );
};
