import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { go, hrefOf } from '#clients/web/location.ts';
import { may, organizationNow } from '#clients/web/organization.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { Dialog } from '#clients/web/parts/dialog.tsx';
import { Form, Select, Text, textOf } from '#clients/web/parts/form.tsx';
import { Head } from '#clients/web/parts/head.tsx';
import { OrganizationShell } from '#clients/web/parts/organization-shell.tsx';
import { all, create } from '#clients/web/session.ts';
import { type Tag, tagsIn, textOfTags } from '#clients/web/text/tags.ts';

/** Projects of an organization. */
export const Projects = ({ organization }: { organization: string }) => {
  const live = useLive(
    `project-list/${organization}`,
    async () => (await all<'projects'>(`/organizations/${organization}/projects`)).data,
    () => 30_000,
  );
  const adding = useSignal(false);
  return (
    <OrganizationShell organization={organization} at="projects">
      <Head
        title="Projects"
        add="New project"
        onAdd={may(organization, 'can-create-project') && (() => (adding.value = true))}
      />
      <Loaded live={live} what="projects">
        {(projects) => (
          <ul class="panel list" aria-label="Projects">
            {projects.map(({ id, attributes }) => (
              <li key={id}>
                <a class="item" href={hrefOf({ view: 'project', organization, id })}>
                  <span class="title">{attributes.name}</span>
                  <span class="meta">{attributes.description}</span>
                </a>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      {adding.value && <NewProject organization={organization} onClose={() => (adding.value = false)} />}
    </OrganizationShell>
  );
};

const NewProject = ({ organization, onClose }: { organization: string; onClose(): void }) => {
  const submit = async (data: FormData) => {
    const path = `/organizations/${organization}/projects`;
    const project = await create(path, 'projects', projectOf(data), tagsOf(data));
    go({ view: 'project', organization, id: project.id });
  };
  return (
    <Dialog title="New project" onClose={onClose}>
      <Form submit="Create project" onSubmit={submit} onCancel={onClose}>
        <ProjectFields tagged inherited={organizationNow(organization)?.attributes['default-execution-mode']} />
      </Form>
    </Dialog>
  );
};

/** Has its own setting instead of the organization's. */
export const isOwnMode = ({ attributes }: Resource<'projects'>): boolean =>
  attributes['setting-overwrites']?.['default-execution-mode'] === true;

interface FieldsProps {
  project?: TaggedProject;
  /** The user may edit tags. */
  tagged: boolean;
  /** The organization's execution mode, once loaded. */
  inherited: string | undefined;
}

/** A project with its tags, which have their own endpoint. */
export type TaggedProject = Resource<'projects'> & { attributes: { tags: Tag[] } };

export const ProjectFields = ({ project, tagged, inherited }: FieldsProps) => {
  const attributes = project?.attributes;
  const ownMode = project && isOwnMode(project) ? attributes?.['default-execution-mode'] : '';
  return (
    <>
      <Text label="Name" name="name" required autoFocus={!project} value={attributes?.name} />
      <Text label="Description" name="description" value={attributes?.description ?? ''} />
      {tagged && (
        <Text
          label="Tags"
          name="tags"
          lines={3}
          value={textOfTags(attributes?.tags ?? [])}
          hint="One per line, for example team = network, or critical. Workspaces inherit them."
        />
      )}
      <Select
        label="Execution mode"
        name="default-execution-mode"
        options={[
          ['', `organization default${inherited ? ` (${inherited})` : ''}`],
          ['remote', 'remote'],
          ['local', 'local'],
          // The agent pool is set through the API; the form keeps it.
          ...(ownMode === 'agent' ? [['agent', 'agent'] as const] : []),
        ]}
        value={ownMode}
        hint="Default for workspaces without their own setting. Local: Terraform runs on your machine, and only the state is stored here."
      />
    </>
  );
};

export const projectOf = (data: FormData) => ({
  name: textOf(data, 'name'),
  description: textOf(data, 'description') ?? '',
  // Null: the organization's.
  'default-execution-mode': textOf(data, 'default-execution-mode') ?? null,
});

/** @param known tags when the form was opened */
export const tagsOf = (data: FormData, tags: Tag[] = []) => ({
  'tag-bindings': {
    data: tagsIn(textOf(data, 'tags') ?? '', tags).map((attributes) => ({ type: 'tag-bindings', attributes })),
  },
});
