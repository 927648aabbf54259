import type { Resource } from '#clients/client/client.ts';
import { organizationNow } from '#clients/web/organization.ts';
import { Select, Text, textOf } from '#clients/web/parts/form.tsx';
import { ResourceList } from '#clients/web/parts/resource-list.tsx';
import { type Tag, tagsIn, textOfTags } from '#clients/web/text/tags.ts';

/** Projects of an organization. */
export const Projects = ({ organization }: { organization: string }) => (
  <ResourceList
    organization={organization}
    noun="project"
    type="projects"
    view="project"
    permission="can-create-project"
    line={({ attributes }) => (
      <>
        <span class="title">{attributes.name}</span>
        <span class="meta">{attributes.description}</span>
      </>
    )}
    fields={<ProjectFields tagged inherited={organizationNow(organization)?.attributes['default-execution-mode']} />}
    attributesOf={projectOf}
    relationshipsOf={(data) => tagsOf(data)}
  />
);

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
