import { useSignal } from '@preact/signals';
import { type Resource, relatedIds } from '#clients/client/client.ts';
import { useList } from '#clients/web/live.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { DialogButton } from '#clients/web/parts/button.tsx';
import { DeleteButton, EditDialog } from '#clients/web/parts/dialog.tsx';
import { Choice, Choices, Text } from '#clients/web/parts/fields.tsx';
import { Line, LiveList } from '#clients/web/parts/list.tsx';
import { Panel } from '#clients/web/parts/section.tsx';
import { get } from '#clients/web/session.ts';
import { reachOf } from '../variables/variable-sets.tsx';

type ProviderSet = Resource<'provider-sets'>;

/** Provider sets, for users who manage them. */
export const ProviderSets = ({ organization }: OrganizationProps) => {
  const live = useList<'provider-sets'>(`/organizations/${organization}/provider-sets`, 60_000);
  return (
    <Panel
      title="Provider sets"
      action={
        <DialogButton small text="New provider set" onClose={live.refresh}>
          {(close) => <EditProviderSet organization={organization} onClose={close} />}
        </DialogButton>
      }
    >
      <LiveList
        live={live}
        what="provider sets"
        plain
        none="No provider sets yet. Create one to configure a provider for all workspaces that are made from modules."
      >
        {(set) => {
          const { name, priority, 'provider-source': source } = set.attributes;
          const path = `/provider-sets/${set.id}`;
          return (
            <Line
              key={set.id}
              title={
                <>
                  <span class="title">{name}</span>{' '}
                  <span class="soft small">
                    {source}, for {scopeOf(set)}
                    {priority && ', high priority'}
                  </span>
                </>
              }
            >
              {/* Entries of a list carry no ETag. */}
              <DialogButton small text="Edit" of={name} load={() => get<'provider-sets'>(path)} onClose={live.refresh}>
                {(close, current) => <EditProviderSet organization={organization} set={current} onClose={close} />}
              </DialogButton>
              <DeleteButton of={name} path={path} typed={name} onClose={live.refresh}>
                The next runs of its workspaces have no configuration for this provider: applies and destroys may fail.
              </DeleteButton>
            </Line>
          );
        }}
      </LiveList>
    </Panel>
  );
};

const scopeOf = (set: ProviderSet): string => {
  const counts = {
    'project-count': relatedIds(set, 'projects').length,
    'workspace-count': relatedIds(set, 'workspaces').length,
  };
  if (set.attributes.global) return 'all projects';
  return counts['project-count'] + counts['workspace-count'] ? reachOf({ global: false, ...counts }) : 'nothing';
};

interface EditProps extends OrganizationProps {
  set?: ProviderSet;
  onClose(): void;
}

const EditProviderSet = ({ organization, set, onClose }: EditProps) => {
  const global = useSignal(set?.attributes.global ?? true);
  const projects = useList<'projects'>(`/organizations/${organization}/projects`);
  return (
    <EditDialog
      title={set ? `Edit ${set.attributes.name}` : 'New provider set'}
      submit={set ? 'Save provider set' : 'Create provider set'}
      type="provider-sets"
      resource={set}
      collection={`/organizations/${organization}/provider-sets`}
      attributesOf={({ projects, ...fields }) => fields}
      relationshipsOf={(data) => {
        const ids = global.value ? [] : data.getAll('projects');
        return { projects: { data: ids.map((id) => ({ type: 'projects', id })) } };
      }}
      onClose={onClose}
    >
      {(current) => (
        <>
          <Text label="Name" name="name" required autoFocus={!set} />
          <Text label="Description" name="description" />
          <Text
            label="Provider source"
            name="provider-source"
            required
            hint="For example registry.terraform.io/hashicorp/aws."
          />
          <Text
            label="Configuration"
            name="configuration-hcl"
            required
            lines={8}
            hint="One provider block. It can refer to variables (var.…), which each workspace sets."
          />
          <Choice
            name="priority"
            label="High priority"
            hint="Takes precedence over provider sets that are nearer to a workspace."
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
                  chosen={relatedIds(current, 'projects')}
                />
              )}
            </Loaded>
          )}
        </>
      )}
    </EditDialog>
  );
};
