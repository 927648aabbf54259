import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { hrefOf } from '#clients/web/location.ts';
import type { OrganizationProps, WorkspaceProps } from '#clients/web/organization.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { DialogButton } from '#clients/web/parts/button.tsx';
import { DeleteButton, EditDialog } from '#clients/web/parts/dialog.tsx';
import { Select } from '#clients/web/parts/fields.tsx';
import { Line, Tags } from '#clients/web/parts/list.tsx';
import { Panel } from '#clients/web/parts/section.tsx';
import { AskedFields } from '#clients/web/parts/task-fields.tsx';
import { all, related } from '#clients/web/session.ts';
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

export const WorkspaceTasks = ({ workspace, organization }: WorkspaceProps) => {
  const path = `/workspaces/${workspace.id}/tasks`;
  const live = useLive(path, () => load(workspace, organization), 15_000);
  const mayManage = workspace.attributes.permissions['can-manage-run-tasks'];
  return (
    <Panel title="Run tasks">
      <Loaded live={live} what="run tasks">
        {({ attached, free }) => (
          <>
            {attached.length === 0 && (
              <p class="soft">No run tasks yet.{mayManage && ' Attach one to check runs with your own service.'}</p>
            )}
            <ul class="stack tight">
              {attached.map((task) => (
                <Attached
                  key={task.own?.id ?? task.task.id}
                  {...task}
                  path={path}
                  may={mayManage}
                  onChange={live.refresh}
                />
              ))}
            </ul>
            {mayManage && free.length > 0 && (
              <div>
                <DialogButton text="Attach a run task" onClose={live.refresh}>
                  {(close) => <EditAttachment path={path} free={free} onClose={close} />}
                </DialogButton>
              </div>
            )}
            {mayManage && free.length === 0 && attached.length === 0 && <NoTasks organization={organization} />}
          </>
        )}
      </Loaded>
    </Panel>
  );
};

const NoTasks = ({ organization }: OrganizationProps) => (
  <p class="soft">
    Create one in the <a href={hrefOf({ view: 'run-tasks', organization })}>run tasks</a> of {organization} first.
  </p>
);

const Attached = ({
  own,
  task,
  path,
  may,
  onChange,
}: Attachment & { path: string; may: boolean; onChange(): void }) => {
  const { name, enabled, 'global-configuration': global } = task.attributes;
  const { stages, 'enforcement-level': level } = own?.attributes ?? global;
  return (
    <Line
      title={
        <>
          <strong>{name}</strong> <Tags of={[!enabled && 'disabled']} />
        </>
      }
      about={`${whenAsked(stages, level)}${own ? '' : ' · all workspaces'}`}
    >
      {own && may && (
        <>
          <DialogButton small text="Change" of={name} onClose={onChange}>
            {(close) => <EditAttachment path={path} attachment={{ own, task }} onClose={close} />}
          </DialogButton>
          <DeleteButton text="Detach" of={name} path={`${path}/${own.id}`} danger={false} onClose={onChange}>
            New runs in this workspace skip it.
          </DeleteButton>
        </>
      )}
    </Line>
  );
};

interface EditProps {
  path: string;
  attachment?: Attachment;
  free?: Resource<'tasks'>[];
  onClose(): void;
}

const EditAttachment = ({ path, attachment, free = [], onClose }: EditProps) => (
  <EditDialog
    title={attachment ? `Change ${attachment.task.attributes.name}` : 'Attach a run task'}
    submit={attachment ? 'Save' : 'Attach'}
    type="workspace-tasks"
    resource={attachment?.own}
    collection={path}
    path={`${path}/${attachment?.own?.id}`}
    attributesOf={({ task, ...fields }) => fields}
    relationshipsOf={(data) => (attachment ? {} : { task: { data: { type: 'tasks', id: data.get('task') } } })}
    onClose={onClose}
  >
    {(current) => (
      <>
        {!attachment && (
          <Select label="Run task" name="task" options={free.map(({ id, attributes }) => [id, attributes.name])} />
        )}
        <AskedFields saved={current?.attributes} />
      </>
    )}
  </EditDialog>
);
