import type { Resource } from '#clients/client/client.ts';
import { type OrganizationProps, organizationNow } from '#clients/web/organization.ts';
import { Select, Text, textOf, type Values } from '#clients/web/parts/fields.tsx';
import { Item } from '#clients/web/parts/list.tsx';
import { ResourceList } from '#clients/web/parts/resource-list.tsx';
import { type Tag, tagsIn, textOfTags } from '#clients/web/text/tags.ts';

/** Projects of an organization. */
export const Projects = ({ organization }: OrganizationProps) => (
  <ResourceList
    organization={organization}
    view="project"
    fields={<ProjectFields tagged inherited={organizationNow(organization)?.attributes['default-execution-mode']} />}
    attributesOf={withoutTags}
    relationshipsOf={(data) => tagsOf(data)}
  >
    {({ id, attributes }, to) => <Item key={id} to={to} title={attributes.name} meta={attributes.description} />}
  </ResourceList>
);

/** Has its own setting instead of the organization's. */
export const isOwnMode = ({ attributes }: Resource<'projects'>): boolean =>
  attributes['setting-overwrites']?.['default-execution-mode'] === true;

/** A project with its tags, which have their own endpoint. */
export type TaggedProject = Resource<'projects'> & { attributes: { tags: Tag[] } };

/** Values of {@link ProjectFields}. */
export const projectValues = (project: Resource<'projects'>): Values => ({
  ...project.attributes,
  tags: textOfTags((project as TaggedProject).attributes.tags),
  'default-execution-mode': isOwnMode(project) ? project.attributes['default-execution-mode'] : null,
});

interface FieldsProps {
  /** The user may edit tags. */
  tagged: boolean;
  /** The project's execution mode. */
  mode?: string;
  /** The organization's execution mode, once loaded. */
  inherited: string | undefined;
}

export const ProjectFields = ({ tagged, mode, inherited }: FieldsProps) => (
  <>
    <Text label="Name" name="name" required autoFocus={!mode} />
    <Text label="Description" name="description" />
    {tagged && (
      <Text
        label="Tags"
        name="tags"
        lines={3}
        hint="One per line, for example team: network, or critical. Workspaces inherit them."
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
        ...(mode === 'agent' ? [['agent', 'agent'] as const] : []),
      ]}
      hint="Default for workspaces without their own setting. Local: Terraform runs on your machine, and only the state is stored here."
    />
  </>
);

/** Tags are a relationship. */
export const withoutTags = ({ tags, ...attributes }: Values): Values => attributes;

/** @param known tags when the form was opened */
export const tagsOf = (data: FormData, tags: Tag[] = []) => ({
  'tag-bindings': {
    data: tagsIn(textOf(data, 'tags') ?? '', tags).map((attributes) => ({ type: 'tag-bindings', attributes })),
  },
});
