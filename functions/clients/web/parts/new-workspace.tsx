import { type OrganizationProps, organizationNow, useItems } from '#clients/web/organization.ts';
import { related } from '#clients/web/session.ts';
import { Choice, Name, Select, Text, type Values } from './fields.tsx';

/** Fields of every form that creates a workspace. */
export const NewWorkspaceFields = ({ organization }: OrganizationProps) => {
  const projects = useItems(organization, 'projects', true);
  return (
    <>
      <Name hint="Letters, digits, - and _. For example network-eu-production." />
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

/** What to save of {@link NewWorkspaceFields} and {@link AutoApply}. */
export const newWorkspaceIn = ({ name, description, project, 'auto-apply': autoApply }: Values) => ({
  attributes: { name, description, 'auto-apply': autoApply },
  relationships: project ? { project: { data: { type: 'projects', id: project } } } : {},
});
