import { go } from '#clients/web/location.ts';
import { organizationNow, useItems } from '#clients/web/organization.ts';
import { Dialog } from '#clients/web/parts/dialog.tsx';
import { Choice, Form, Select, Text, textOf } from '#clients/web/parts/form.tsx';
import { create, related } from '#clients/web/session.ts';

export const NewWorkspace = ({ organization, onClose }: { organization: string; onClose(): void }) => {
  const projects = useItems(organization, 'projects', true);
  const submit = async (data: FormData) => {
    const project = textOf(data, 'project');
    const tags = (textOf(data, 'tags') ?? '').split(/[\s,]+/).filter(Boolean);
    const workspace = await create(
      `/organizations/${organization}/workspaces`,
      'workspaces',
      {
        name: textOf(data, 'name'),
        description: textOf(data, 'description') ?? null,
        'auto-apply': data.has('auto-apply'),
        'terraform-version': textOf(data, 'terraform-version') ?? 'latest',
        'working-directory': textOf(data, 'working-directory') ?? null,
      },
      {
        ...(tags.length ? { tags: { data: tags.map((name) => ({ type: 'tags', attributes: { name } })) } } : {}),
        ...(project ? { project: { data: { type: 'projects', id: project } } } : {}),
      },
    );
    go({ view: 'workspace', organization, workspace: workspace.attributes.name, tab: 'overview' });
  };
  return (
    <Dialog title="New workspace" onClose={onClose}>
      <Form submit="Create workspace" onSubmit={submit} onCancel={onClose}>
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
        <Text label="Tags" name="tags" hint="Separated by spaces. The cloud block can select workspaces by tag." />
        <details>
          <summary>More settings</summary>
          <div class="stack">
            <Text
              label="Terraform version"
              name="terraform-version"
              placeholder="latest"
              hint="A version such as 1.11.4, or a constraint such as ~> 1.11.0."
            />
            <Text label="Working directory" name="working-directory" placeholder="configuration root" />
            <Choice
              label="Apply without confirmation"
              name="auto-apply"
              hint="Plans with changes are applied immediately."
            />
          </div>
        </details>
      </Form>
    </Dialog>
  );
};
