import { go } from '#clients/web/location.ts';
import { Dialog } from '#clients/web/parts/dialog.tsx';
import { Form, Text, textOf } from '#clients/web/parts/form.tsx';
import { AutoApply, NewWorkspaceFields, newWorkspaceIn } from '#clients/web/parts/new-workspace.tsx';
import { create } from '#clients/web/session.ts';

export const NewWorkspace = ({ organization, onClose }: { organization: string; onClose(): void }) => {
  const submit = async (data: FormData) => {
    const { attributes, relationships } = newWorkspaceIn(data);
    const tags = (textOf(data, 'tags') ?? '').split(/[\s,]+/).filter(Boolean);
    const workspace = await create(
      `/organizations/${organization}/workspaces`,
      'workspaces',
      {
        ...attributes,
        'terraform-version': textOf(data, 'terraform-version') ?? 'latest',
        'working-directory': textOf(data, 'working-directory') ?? null,
      },
      {
        ...relationships,
        ...(tags.length ? { tags: { data: tags.map((name) => ({ type: 'tags', attributes: { name } })) } } : {}),
      },
    );
    go({ view: 'workspace', organization, workspace: workspace.attributes.name, tab: 'overview' });
  };
  return (
    <Dialog title="New workspace" onClose={onClose}>
      <Form submit="Create workspace" onSubmit={submit} onCancel={onClose}>
        <NewWorkspaceFields organization={organization} />
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
            <AutoApply />
          </div>
        </details>
      </Form>
    </Dialog>
  );
};
