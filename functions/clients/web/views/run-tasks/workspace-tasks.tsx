import type { Resource } from '#clients/client/client.ts';
import { useEntry } from '#clients/web/editing.ts';
import { useLive } from '#clients/web/live.ts';
import { hrefOf } from '#clients/web/location.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { Confirm, Dialog } from '#clients/web/parts/dialog.tsx';
import { Form, Select } from '#clients/web/parts/form.tsx';
import { SmallButton } from '#clients/web/parts/small-button.tsx';
import { AskedFields, taskFieldsOf } from '#clients/web/parts/task-fields.tsx';
import { all, call, change, create, related } from '#clients/web/session.ts';
import { whenAsked } from '#clients/web/text/run-task.ts';

/** Run tasks of a workspace. */

interface Attachment {
  /** The workspace's attachment; undefined for a global task. */
  own: Resource<'workspace-tasks'> | undefined;
  task: Resource<'tasks'>;
}

interface ViewData {
  attached: Attachment[];
  /** Run tasks that can be attached. */
  free: Resource<'tasks'>[];
}

const load = async (workspace: Resource<'workspaces'>, organization: string): Promise<ViewData> => {
  const [own, every] = await Promise.all([
    all<'workspace-tasks'>(`/workspaces/${workspace.id}/tasks`),
    all<'tasks'>(`/organizations/${organization}/tasks`),
  ]);
  const tasks = new Map(every.data.map((task) => [task.id, task]));
  const used = own.data.flatMap((one): Attachment[] => {
    const task = tasks.get(related(one, 'task') ?? '');
    return task ? [{ own: one, task }] : [];
  });
  const global = every.data.filter(({ attributes }) => attributes['global-configuration'].enabled);
  const usedIds = new Set(used.map(({ task }) => task.id));
  return {
    attached: [...global.map((task) => ({ own: undefined, task })), ...used],
    free: every.data.filter(({ id }) => !usedIds.has(id)),
  };
};

export const WorkspaceTasks = ({
  workspace,
  organization,
}: {
  workspace: Resource<'workspaces'>;
  organization: string;
}) => {
  const path = `/workspaces/${workspace.id}/tasks`;
  const live = useLive(
    path,
    () => load(workspace, organization),
    () => 15_000,
  );
  const { editing, removing, close } = useEntry<Attachment>(live.refresh);
  const mayManage = workspace.attributes.permissions['can-manage-run-tasks'];
  return (
    <section class="panel pad stack" aria-label="Run tasks">
      <h2>Run tasks</h2>
      <Loaded live={live} what="run tasks">
        {({ attached, free }) => (
          <>
            {attached.length === 0 && (
              <p class="soft">No run tasks yet. Attach one to check runs with your own service.</p>
            )}
            <ul class="stack tight">
              {attached.map((task) => (
                <Line
                  key={task.own?.id ?? task.task.id}
                  {...task}
                  may={mayManage}
                  onEdit={() => (editing.value = task)}
                  onRemove={() => (removing.value = task)}
                />
              ))}
            </ul>
            {mayManage && free.length > 0 && (
              <div>
                <button type="button" onClick={() => (editing.value = 'new')}>
                  Attach a run task
                </button>
              </div>
            )}
            {mayManage && free.length === 0 && attached.length === 0 && <NoTasks organization={organization} />}
            {editing.value && (
              <EditAttachment
                path={path}
                attachment={editing.value === 'new' ? undefined : editing.value}
                free={free}
                onClose={close}
              />
            )}
          </>
        )}
      </Loaded>
      {removing.value?.own && (
        <Confirm
          title={`Detach ${removing.value.task.attributes.name}?`}
          yes="Detach"
          onYes={() => call('DELETE', `${path}/${removing.value?.own?.id}`)}
          onClose={close}
        >
          <p>New runs in this workspace skip it.</p>
        </Confirm>
      )}
    </section>
  );
};

const NoTasks = ({ organization }: { organization: string }) => (
  <p class="soft">
    Create one in the <a href={hrefOf({ view: 'run-tasks', organization })}>run tasks</a> of {organization} first.
  </p>
);

const Line = ({
  own,
  task,
  may,
  onEdit,
  onRemove,
}: Attachment & { may: boolean; onEdit(): void; onRemove(): void }) => {
  const { name, enabled, 'global-configuration': global } = task.attributes;
  const { stages, 'enforcement-level': level } = own?.attributes ?? global;
  return (
    <li class="row spread">
      <div class="grow break">
        <strong>{name}</strong> {!enabled && <span class="tag">disabled</span>}
        <div class="soft small">
          {whenAsked(stages, level)}
          {!own && ' · all workspaces'}
        </div>
      </div>
      {own && may && (
        <div class="row">
          <SmallButton text="Change" of={name} onClick={onEdit} />
          <SmallButton text="Detach" of={name} onClick={onRemove} />
        </div>
      )}
    </li>
  );
};

interface EditProps {
  path: string;
  attachment: Attachment | undefined;
  free: Resource<'tasks'>[];
  onClose(): void;
}

const EditAttachment = ({ path, attachment, free, onClose }: EditProps) => {
  const current = attachment?.own;
  const submit = async (data: FormData) => {
    const attributes = taskFieldsOf(data);
    await (current
      ? change(`${path}/${current.id}`, 'workspace-tasks', attributes)
      : create(path, 'workspace-tasks', attributes, {
          task: { data: { type: 'tasks', id: String(data.get('task')) } },
        }));
    onClose();
  };
  return (
    <Dialog title={attachment ? `Change ${attachment.task.attributes.name}` : 'Attach a run task'} onClose={onClose}>
      <Form submit={attachment ? 'Save' : 'Attach'} onSubmit={submit} onCancel={onClose}>
        {!attachment && (
          <Select label="Run task" name="task" options={free.map(({ id, attributes }) => [id, attributes.name])} />
        )}
        <AskedFields
          stages={current?.attributes.stages ?? ['post_plan']}
          level={current?.attributes['enforcement-level']}
        />
      </Form>
    </Dialog>
  );
};
