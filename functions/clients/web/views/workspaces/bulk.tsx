import { type Signal, useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { count } from '#clients/client/text/time.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { SmallButton } from '#clients/web/parts/button.tsx';
import { Dialog } from '#clients/web/parts/dialog.tsx';
import { Failures } from '#clients/web/parts/failures.tsx';
import { Select, Text, textOf } from '#clients/web/parts/fields.tsx';
import { useProjects } from '#clients/web/parts/filters.tsx';
import { Form } from '#clients/web/parts/form.tsx';
import { call, create, errorText } from '#clients/web/session.ts';

/** Actions on several workspaces, with one confirmation. */

type Workspace = Resource<'workspaces'>;

interface Action {
  name: string;
  submit: string;
  about: string;
  fields?(organization: string): preact.JSX.Element;
  run(workspace: Workspace, data: FormData): Promise<unknown>;
}

const act = (verb: string) => (workspace: Workspace, data: FormData) =>
  call('POST', `/workspaces/${workspace.id}/actions/${verb}`, { reason: textOf(data, 'reason') ?? '' });

const actions: Action[] = [
  {
    name: 'Start runs',
    submit: 'Start runs',
    about: 'Each starts a run with its latest configuration.',
    fields: () => <Text label="Message" name="message" value="Started from the list of workspaces" />,
    run: ({ id }, data) => {
      const workspace = { data: { type: 'workspaces', id } };
      return create('/runs', 'runs', { message: textOf(data, 'message') }, { workspace });
    },
  },
  {
    name: 'Lock',
    submit: 'Lock workspaces',
    about: 'Runs stay pending while a workspace is locked.',
    fields: () => <Text label="Reason" name="reason" />,
    run: act('lock'),
  },
  {
    name: 'Unlock',
    submit: 'Unlock workspaces',
    about: 'Pending runs continue. Locks of other users stay.',
    run: act('unlock'),
  },
  {
    name: 'Add tag',
    submit: 'Add tag',
    about: 'The tag is added to each.',
    fields: () => <Text label="Tag" name="tag" required />,
    run: ({ id }, data) =>
      call('POST', `/workspaces/${id}/relationships/tags`, {
        data: [{ type: 'tags', attributes: { name: textOf(data, 'tag') } }],
      }),
  },
  {
    name: 'Move',
    submit: 'Move workspaces',
    about: 'Access and variable sets of the new project apply from then on.',
    fields: (organization) => <Projects organization={organization} />,
    run: ({ id }, data) =>
      call('POST', `/projects/${textOf(data, 'project')}/relationships/workspaces`, {
        data: [{ type: 'workspaces', id }],
      }),
  },
];

const Projects = ({ organization }: OrganizationProps) => {
  return <Select label="Project" name="project" options={[...useProjects(organization)]} />;
};

interface Props extends OrganizationProps {
  chosen: Signal<ReadonlySet<string>>;
  /** Currently listed workspaces. */
  workspaces: Workspace[];
  onDone(): void;
}

export const BulkActions = ({ organization, chosen, workspaces, onDone }: Props) => {
  const asking = useSignal<Action | undefined>(undefined);
  const selected = workspaces.filter(({ id }) => chosen.value.has(id));
  const everything = selected.length === workspaces.length;
  return (
    <section class="bulk panel pad row" aria-label="Actions on the selected workspaces">
      <span role="status">{selected.length} selected</span>
      <SmallButton
        text={everything ? 'Select none' : `Select all ${workspaces.length}`}
        onClick={() => (chosen.value = new Set(everything ? [] : workspaces.map(({ id }) => id)))}
      />
      {actions.map((action) => (
        <SmallButton
          key={action.name}
          text={action.name}
          disabled={selected.length === 0}
          onClick={() => (asking.value = action)}
        />
      ))}
      {asking.value && (
        <Asked
          action={asking.value}
          selected={selected}
          organization={organization}
          onClose={(left) => {
            asking.value = undefined;
            if (left) chosen.value = left;
            onDone();
          }}
        />
      )}
    </section>
  );
};

interface AskedProps extends OrganizationProps {
  action: Action;
  selected: Workspace[];
  /** @param left workspaces without success */
  onClose(left?: ReadonlySet<string>): void;
}

const namesShown = 10;

const Asked = ({ action, selected, organization, onClose }: AskedProps) => {
  const failures = useSignal<[workspace: Workspace, why: string][] | undefined>(undefined);
  // As selected when the dialog was opened: the list keeps changing.
  const asked = useSignal(selected).value;
  const submit = async (data: FormData) => {
    const failed: [Workspace, string][] = [];
    for (const workspace of asked) {
      await action.run(workspace, data).catch((error) => failed.push([workspace, errorText(error)]));
    }
    if (failed.length === 0) onClose(new Set());
    else failures.value = failed;
  };
  const left = failures.value;
  const title = `${action.name}: ${count(asked.length, 'workspace')}`;
  if (left) {
    const close = () => onClose(new Set(left.map(([{ id }]) => id)));
    return (
      <Failures title={title} failed={left.map(([{ attributes }, why]) => [attributes.name, why])} onClose={close}>
        Done for {asked.length - left.length} of {asked.length}. Those that failed stay selected.
      </Failures>
    );
  }
  const more = asked.length - namesShown;
  return (
    <Dialog title={title} onClose={() => onClose()}>
      <p class="soft">{action.about}</p>
      <p class="break">
        {asked
          .slice(0, namesShown)
          .map(({ attributes }) => attributes.name)
          .join(', ')}
        {more > 0 && ` and ${more} more`}
      </p>
      <Form submit={action.submit} onSubmit={submit} onCancel={() => onClose()}>
        {action.fields?.(organization)}
      </Form>
    </Dialog>
  );
};
