import { organizationNow, useItems } from '#clients/web/organization.ts';
import { related } from '#clients/web/session.ts';
import { Choice, Select, Text, textOf } from './form.tsx';

/** Fields of every form that creates a workspace. */
export const NewWorkspaceFields = ({ organization }: { organization: string }) => {
  const projects = useItems(organization, 'projects', true);
  return (
    <>
      <Text
        label="Name"
        name="name"
        required
        autoFocus
        pattern="[A-Za-z0-9_\-]+"
        hint="Letters, digits, - and _. For example network-eu-production."
      />
      <Text label="Description" name="description" />
      {projects.length > 1 && (
        <Select
          label="Project"
          name="project"
          options={projects.map(({ id, name }) => [id, name])}
          value={related(organizationNow(organization), 'default-project')}
        />
      )}
    </>
  );
};

export const AutoApply = () => (
  <Choice label="Apply without confirmation" name="auto-apply" hint="Plans with changes are applied immediately." />
);

/** Values of {@link NewWorkspaceFields} and {@link AutoApply}. */
export const newWorkspaceIn = (data: FormData) => {
  const project = textOf(data, 'project');
  const relationships: Record<string, { data: unknown }> = project
    ? { project: { data: { type: 'projects', id: project } } }
    : {};
  const attributes = {
    name: textOf(data, 'name'),
    description: textOf(data, 'description') ?? null,
    'auto-apply': data.has('auto-apply'),
  };
  return { attributes, relationships };
};
