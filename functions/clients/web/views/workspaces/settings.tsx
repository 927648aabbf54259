import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { count } from '#clients/client/text/time.ts';
import { go } from '#clients/web/location.ts';
import { Notice } from '#clients/web/parts/basics.tsx';
import { Confirm } from '#clients/web/parts/dialog.tsx';
import { Choice } from '#clients/web/parts/form.tsx';
import { call } from '#clients/web/session.ts';
import { TeamAccess } from '../people/team-access.tsx';
import { WorkspaceTasks } from '../run-tasks/workspace-tasks.tsx';
import { RunTriggers } from '../runs/run-triggers.tsx';
import { Repository } from '../version-control/repository.tsx';
import { AutoDestroy } from './auto-destroy.tsx';
import { GeneralSettings } from './general-settings.tsx';
import { Notifications } from './notifications.tsx';

interface Props {
  workspace: Resource<'workspaces'>;
  organization: string;
  onChange(): void;
}

/** Settings of a workspace, and its deletion. */
export const Settings = ({ workspace, organization, onChange }: Props) => {
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
        {permissions['can-update'] && <TeamAccess what="workspace" id={workspace.id} organization={organization} may />}
        {permissions['can-destroy'] && <Danger workspace={workspace} organization={organization} />}
      </div>
    </div>
  );
};

const Danger = ({ workspace, organization }: { workspace: Resource<'workspaces'>; organization: string }) => {
  const asking = useSignal(false);
  const { name, 'resource-count': resources } = workspace.attributes;
  const remove = async (data: FormData) => {
    const path = `/workspaces/${workspace.id}`;
    await (data.has('force') ? call('DELETE', path) : call('POST', `${path}/actions/safe-delete`, {}));
    go({ view: 'workspaces', organization });
  };
  return (
    <section class="panel pad stack">
      <h2>Delete this workspace</h2>
      <p class="soft">
        Its runs, variables and states can be recovered for seven days, in the settings of the organization. Real
        infrastructure stays: queue a destroy run first to remove it.
      </p>
      <div>
        <button type="button" class="danger" onClick={() => (asking.value = true)}>
          Delete workspace
        </button>
      </div>
      {asking.value && (
        <Confirm
          title={`Delete ${name}?`}
          yes="Delete"
          typed={name}
          onYes={remove}
          onClose={() => (asking.value = false)}
        >
          {resources > 0 && (
            <>
              <Notice kind="warn">
                Its state manages <strong>{count(resources, 'resource')}</strong>. Without the state, Terraform can no
                longer change or destroy them.
              </Notice>
              <Choice name="force" label="Delete it even though it manages resources" />
            </>
          )}
        </Confirm>
      )}
    </section>
  );
};
