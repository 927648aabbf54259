import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { count } from '#clients/client/text/time.ts';
import { useLive } from '#clients/web/live.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { Confirm, Dialog } from '#clients/web/parts/dialog.tsx';
import { Choice, Choices, Form, Text, textOf } from '#clients/web/parts/form.tsx';
import { SmallButton } from '#clients/web/parts/small-button.tsx';
import { all, call, change, changed, create, get } from '#clients/web/session.ts';

type ProviderSet = Resource<'provider-sets'>;

/** Provider sets, for users who manage them. */
export const ProviderSets = ({ organization }: { organization: string }) => {
  const live = useLive(
    `provider-sets/${organization}`,
    async () => (await all<'provider-sets'>(`/organizations/${organization}/provider-sets`)).data,
    () => 60_000,
  );
  const edited = useSignal<ProviderSet | 'new' | undefined>(undefined);
  // Entries of a list carry no ETag, so read the set again.
  const edit = async (id: string) => {
    edited.value = await get<'provider-sets'>(`/provider-sets/${id}`);
  };
  const close = () => {
    edited.value = undefined;
    live.refresh();
  };
  return (
    <section class="panel pad stack" aria-label="Provider sets">
      <div class="row spread">
        <h2>Provider sets</h2>
        <SmallButton text="New provider set" onClick={() => (edited.value = 'new')} />
      </div>
      <Loaded live={live} what="provider sets">
        {(sets) =>
          sets.length === 0 ? (
            <p class="soft">
              No provider sets yet. Create one to configure a provider for all workspaces that are made from modules.
            </p>
          ) : (
            <ul class="list" aria-label="Provider sets">
              {sets.map((set) => (
                <Line key={set.id} set={set} onEdit={() => edit(set.id)} onDone={close} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {edited.value && (
        <EditProviderSet
          organization={organization}
          set={edited.value === 'new' ? undefined : edited.value}
          onClose={close}
        />
      )}
    </section>
  );
};

const idsOf = (set: ProviderSet | undefined, of: 'projects' | 'workspaces'): string[] => {
  const data = set?.relationships?.[of]?.data;
  return Array.isArray(data) ? data.map(({ id }) => id) : [];
};

const reachOf = (set: ProviderSet): string => {
  if (set.attributes.global) return 'all projects';
  const [projects, workspaces] = [idsOf(set, 'projects').length, idsOf(set, 'workspaces').length];
  const parts = [projects && count(projects, 'project'), workspaces && count(workspaces, 'workspace')];
  return parts.filter(Boolean).join(' and ') || 'nothing';
};

const Line = ({ set, onEdit, onDone }: { set: ProviderSet; onEdit(): void; onDone(): void }) => {
  const { name, priority, 'provider-source': source } = set.attributes;
  const deleting = useSignal(false);
  return (
    <li class="row spread">
      <span class="grow">
        <span class="title">{name}</span>{' '}
        <span class="soft small">
          {source}, for {reachOf(set)}
          {priority && ', high priority'}
        </span>
      </span>
      <span class="row">
        <SmallButton text="Edit" of={name} onClick={onEdit} />
        <SmallButton text="Delete" of={name} danger onClick={() => (deleting.value = true)} />
      </span>
      {deleting.value && (
        <Confirm
          title={`Delete ${name}?`}
          yes="Delete"
          typed={name}
          onYes={async () => {
            await call('DELETE', `/provider-sets/${set.id}`);
            onDone();
          }}
          onClose={() => (deleting.value = false)}
        >
          <p>The next runs of its workspaces have no configuration for this provider: applies and destroys may fail.</p>
        </Confirm>
      )}
    </li>
  );
};

const EditProviderSet = ({
  organization,
  set,
  onClose,
}: {
  organization: string;
  set: ProviderSet | undefined;
  onClose(): void;
}) => {
  const global = useSignal(set?.attributes.global ?? true);
  const projects = useLive(
    `provider-set-projects/${organization}`,
    async () => (await all<'projects'>(`/organizations/${organization}/projects`)).data,
    () => undefined,
  );
  const submit = async (data: FormData) => {
    const attributes = {
      name: textOf(data, 'name'),
      description: textOf(data, 'description') ?? null,
      global: global.value,
      priority: data.has('priority'),
      'provider-source': textOf(data, 'provider-source'),
      'configuration-hcl': textOf(data, 'configuration-hcl'),
    };
    const ids = global.value ? [] : data.getAll('projects').map(String);
    const relationships = { projects: { data: ids.map((id) => ({ type: 'projects', id })) } };
    if (set) {
      const edits = changed(attributes, set.attributes);
      await change(`/provider-sets/${set.id}`, 'provider-sets', edits, { basis: set, relationships });
    } else await create(`/organizations/${organization}/provider-sets`, 'provider-sets', attributes, relationships);
    onClose();
  };
  return (
    <Dialog title={set ? `Edit ${set.attributes.name}` : 'New provider set'} onClose={onClose}>
      <Form submit={set ? 'Save provider set' : 'Create provider set'} onSubmit={submit} onCancel={onClose}>
        <Text label="Name" name="name" required autoFocus={!set} value={set?.attributes.name} />
        <Text label="Description" name="description" value={set?.attributes.description ?? ''} />
        <Text
          label="Provider source"
          name="provider-source"
          required
          value={set?.attributes['provider-source']}
          hint="For example registry.terraform.io/hashicorp/aws."
        />
        <Text
          label="Configuration"
          name="configuration-hcl"
          required
          lines={8}
          value={set?.attributes['configuration-hcl']}
          hint="One provider block. It can refer to variables (var.…), which each workspace sets."
        />
        <Choice
          name="priority"
          label="High priority"
          hint="Takes precedence over provider sets that are nearer to a workspace."
          checked={set?.attributes.priority}
        />
        <Choice
          name="global"
          label="Apply to all projects"
          checked={global.value}
          onChange={(checked) => (global.value = checked)}
        />
        {!global.value && (
          <Loaded live={projects} what="projects">
            {(found) => (
              <Choices
                legend="Projects"
                name="projects"
                options={found.map(({ id, attributes }) => [id, attributes.name])}
                chosen={idsOf(set, 'projects')}
              />
            )}
          </Loaded>
        )}
      </Form>
    </Dialog>
  );
};
