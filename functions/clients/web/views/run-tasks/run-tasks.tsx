import { useSignal } from '@preact/signals';
import { type Resource, relatedIds } from '#clients/client/client.ts';
import { count } from '#clients/client/text/time.ts';
import { useList } from '#clients/web/live.ts';
import { may, type OrganizationProps } from '#clients/web/organization.ts';
import { DialogButton } from '#clients/web/parts/button.tsx';
import { DeleteButton, EditDialog } from '#clients/web/parts/dialog.tsx';
import { Choice, Text } from '#clients/web/parts/fields.tsx';
import { Item, LiveList } from '#clients/web/parts/list.tsx';
import { OrganizationShell } from '#clients/web/parts/organization-shell.tsx';
import { AskedFields } from '#clients/web/parts/task-fields.tsx';
import { get } from '#clients/web/session.ts';
import { whenAsked } from '#clients/web/text/run-task.ts';

/** Run tasks: external services that check runs through webhooks. */
export const RunTasks = ({ organization }: OrganizationProps) => {
  const live = useList<'tasks'>(`/organizations/${organization}/tasks`, 15_000);
  const mayWrite = may(organization, 'can-manage-run-tasks');
  return (
    <OrganizationShell
      organization={organization}
      at="run-tasks"
      action={
        mayWrite && (
          <DialogButton text="New run task" primary onClose={live.refresh}>
            {(close) => <EditTask organization={organization} onClose={close} />}
          </DialogButton>
        )
      }
    >
      <LiveList
        live={live}
        what="run tasks"
        none="No run tasks yet. Create one to check runs with an external service, such as a security scanner, before or after plan and apply."
      >
        {(task) => (
          <Task key={task.id} task={task} organization={organization} may={mayWrite} onChange={live.refresh} />
        )}
      </LiveList>
    </OrganizationShell>
  );
};

interface TaskProps extends OrganizationProps {
  task: Resource<'tasks'>;
  may: boolean;
  onChange(): void;
}

const Task = ({ task, organization, may: mayWrite, onChange }: TaskProps) => {
  const { name, url, description, enabled, 'global-configuration': global } = task.attributes;
  const path = `/tasks/${task.id}`;
  return (
    <Item
      title={name}
      tags={[
        !enabled && 'disabled',
        global.enabled && `all workspaces: ${whenAsked(global.stages, global['enforcement-level'])}`,
      ]}
      meta={
        <>
          {description && <>{description} · </>}
          <span class="mono">{url}</span>
        </>
      }
      notes={[global.enabled ? 'global' : `in ${count(relatedIds(task, 'workspace-tasks').length, 'workspace')}`]}
    >
      {mayWrite && (
        <>
          {/* Entries of a list carry no ETag. */}
          <DialogButton small text="Change" of={name} load={() => get<'tasks'>(path)} onClose={onChange}>
            {(close, current) => <EditTask organization={organization} task={current} onClose={close} />}
          </DialogButton>
          <DeleteButton of={name} noun="run task" path={path} onClose={onChange}>
            New runs skip this task. Results of earlier runs are kept.
          </DeleteButton>
        </>
      )}
    </Item>
  );
};

interface EditProps extends OrganizationProps {
  task?: Resource<'tasks'>;
  onClose(): void;
}

const EditTask = ({ organization, task, onClose }: EditProps) => {
  const everywhere = useSignal<boolean | undefined>(undefined);
  return (
    <EditDialog
      title={task ? `Change ${task.attributes.name}` : 'New run task'}
      submit={task ? 'Save' : 'Create run task'}
      type="tasks"
      resource={task}
      collection={`/organizations/${organization}/tasks`}
      attributesOf={({ 'hmac-key': key, 'no-key': noKey, global, stages, 'enforcement-level': level, ...fields }) => ({
        ...fields,
        category: 'task',
        // An empty field keeps the key, which is write-only.
        ...(noKey ? { 'hmac-key': '' } : key ? { 'hmac-key': key } : {}),
        'global-configuration': global ? { enabled: true, stages, 'enforcement-level': level } : { enabled: false },
      })}
      onClose={onClose}
    >
      {(current) => {
        const global = current?.attributes['global-configuration'];
        const isGlobal = everywhere.value ?? global?.enabled ?? false;
        return (
          <>
            <Text label="Name" name="name" required autoFocus={!task} />
            <Text
              label="URL"
              name="url"
              required
              placeholder="https://"
              hint="A test request is sent when you save. The service must respond with status 200."
            />
            <Text label="Description" name="description" />
            <Text
              label="HMAC key"
              name="hmac-key"
              type="password"
              autoComplete="new-password"
              hint={
                task
                  ? 'Write-only. Leave empty to keep the current key.'
                  : 'Signs each request so that the service can verify the sender. Write-only.'
              }
            />
            {task && <Choice name="no-key" label="Remove the HMAC key" hint="Requests are sent without a signature." />}
            <Choice name="enabled" label="Enabled" hint="Runs skip disabled tasks." initial />
            <Choice
              name="global"
              label="Apply to all workspaces"
              hint="Including workspaces created later."
              checked={isGlobal}
              onChange={(checked) => (everywhere.value = checked)}
            />
            {isGlobal && <AskedFields saved={global} />}
          </>
        );
      }}
    </EditDialog>
  );
};
