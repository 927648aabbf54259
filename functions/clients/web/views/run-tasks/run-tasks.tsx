import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { count } from '#clients/client/text/time.ts';
import { useEditing } from '#clients/web/editing.ts';
import { useLive } from '#clients/web/live.ts';
import { may } from '#clients/web/organization.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { Confirm, Dialog } from '#clients/web/parts/dialog.tsx';
import { Choice, Form, Text, textOf } from '#clients/web/parts/form.tsx';
import { Head } from '#clients/web/parts/head.tsx';
import { OrganizationShell } from '#clients/web/parts/organization-shell.tsx';
import { SmallButton } from '#clients/web/parts/small-button.tsx';
import { AskedFields, taskFieldsOf } from '#clients/web/parts/task-fields.tsx';
import { all, call, change, changed, create, get } from '#clients/web/session.ts';
import { whenAsked } from '#clients/web/text/run-task.ts';

/** Run tasks: external services that check runs through webhooks. */
export const RunTasks = ({ organization }: { organization: string }) => {
  const live = useLive(
    `run-tasks/${organization}`,
    async () => (await all<'tasks'>(`/organizations/${organization}/tasks`)).data,
    () => 15_000,
  );
  const { editing, removing, edit, close } = useEditing('/tasks', live);
  const mayWrite = may(organization, 'can-manage-run-tasks');
  return (
    <OrganizationShell organization={organization} at="run-tasks">
      <Head title="Run tasks" add="New run task" onAdd={mayWrite && (() => (editing.value = 'new'))} />
      <Loaded live={live} what="run tasks">
        {(tasks) =>
          tasks.length === 0 ? (
            <p class="panel pad soft">
              No run tasks yet. Create one to check runs with an external service, such as a security scanner, before or
              after plan and apply.
            </p>
          ) : (
            <ul class="panel list" aria-label="Run tasks">
              {tasks.map((task) => (
                <Line
                  key={task.id}
                  task={task}
                  onEdit={mayWrite && (() => edit(task))}
                  onDelete={mayWrite && (() => (removing.value = task))}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      {editing.value && (
        <EditTask
          organization={organization}
          task={editing.value === 'new' ? undefined : editing.value}
          onClose={close}
        />
      )}
      {removing.value && <DeleteTask task={removing.value} onClose={close} />}
    </OrganizationShell>
  );
};

const usesOf = ({ relationships }: Resource): number => {
  const uses = relationships?.['workspace-tasks']?.data;
  return Array.isArray(uses) ? uses.length : 0;
};

interface LineProps {
  task: Resource<'tasks'>;
  onEdit: false | (() => void);
  onDelete: false | (() => void);
}

const Line = ({ task, onEdit, onDelete }: LineProps) => {
  const { name, url, description, enabled, 'global-configuration': global } = task.attributes;
  return (
    <li class="item">
      <span class="row">
        <span class="title">{name}</span>
        {!enabled && <span class="tag">disabled</span>}
        {global.enabled && (
          <span class="tag">all workspaces: {whenAsked(global.stages, global['enforcement-level'])}</span>
        )}
      </span>
      <span class="meta break">
        {description && <>{description} · </>}
        <span class="mono">{url}</span>
      </span>
      <span class="end">
        <span class="meta">{global.enabled ? 'global' : `in ${count(usesOf(task), 'workspace')}`}</span>
        {onEdit && onDelete && (
          <span class="row">
            <SmallButton text="Change" of={name} onClick={onEdit} />
            <SmallButton text="Delete" of={name} danger onClick={onDelete} />
          </span>
        )}
      </span>
    </li>
  );
};

interface EditProps {
  organization: string;
  task: Resource<'tasks'> | undefined;
  onClose(): void;
}

const EditTask = ({ organization, task, onClose }: EditProps) => {
  const basis = useSignal(task);
  const current = basis.value?.attributes;
  const global = current?.['global-configuration'];
  const everywhere = useSignal<boolean>(global?.enabled ?? false);
  const path = `/tasks/${task?.id}`;
  const submit = async (data: FormData) => {
    const key = textOf(data, 'hmac-key');
    const attributes = {
      name: textOf(data, 'name'),
      url: textOf(data, 'url'),
      description: textOf(data, 'description') ?? '',
      category: 'task',
      enabled: data.has('enabled'),
      // An empty field keeps the key, which is write-only.
      ...(data.has('no-key') ? { 'hmac-key': '' } : key ? { 'hmac-key': key } : {}),
      'global-configuration': everywhere.value ? { enabled: true, ...taskFieldsOf(data) } : { enabled: false },
    };
    await (task
      ? change(path, 'tasks', changed(attributes, current ?? {}), { basis: basis.value })
      : create(`/organizations/${organization}/tasks`, 'tasks', attributes));
    onClose();
  };
  return (
    <Dialog title={task ? `Change ${current?.name}` : 'New run task'} onClose={onClose}>
      <Form
        key={basis.value?.etag}
        submit={task ? 'Save' : 'Create run task'}
        onSubmit={submit}
        onCancel={onClose}
        onReload={async () => {
          basis.value = await get(path);
          everywhere.value = basis.value.attributes['global-configuration'].enabled;
        }}
      >
        <Text label="Name" name="name" required autoFocus={!task} value={current?.name} />
        <Text
          label="URL"
          name="url"
          required
          value={current?.url}
          placeholder="https://"
          hint="A test request is sent when you save. The service must respond with status 200."
        />
        <Text label="Description" name="description" value={current?.description ?? ''} />
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
        <Choice name="enabled" label="Enabled" hint="Runs skip disabled tasks." checked={current?.enabled ?? true} />
        <Choice
          name="global"
          label="Apply to all workspaces"
          hint="Including workspaces created later."
          checked={everywhere.value}
          onChange={(checked) => (everywhere.value = checked)}
        />
        {everywhere.value && (
          <AskedFields
            stages={global?.stages?.length ? global.stages : ['post_plan']}
            level={global?.['enforcement-level']}
          />
        )}
      </Form>
    </Dialog>
  );
};

const DeleteTask = ({ task, onClose }: { task: Resource<'tasks'>; onClose(): void }) => (
  <Confirm
    title={`Delete ${task.attributes.name}?`}
    yes="Delete run task"
    onYes={() => call('DELETE', `/tasks/${task.id}`)}
    onClose={onClose}
  >
    <p>New runs skip this task. Results of earlier runs are kept.</p>
  </Confirm>
);
