import { go } from '#clients/web/location.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { FormDialog } from '#clients/web/parts/dialog.tsx';
import { More, Text, textOf, type Values } from '#clients/web/parts/fields.tsx';
import { AutoApply, NewWorkspaceFields, newWorkspaceIn } from '#clients/web/parts/new-workspace.tsx';
import { create } from '#clients/web/session.ts';

export const NewWorkspace = ({ organization, onClose }: OrganizationProps & { onClose(): void }) => {
  const submit = async (data: FormData, fields: Values) => {
    const { attributes, relationships } = newWorkspaceIn(fields);
    const { 'terraform-version': version, 'working-directory': directory } = fields;
    const tags = (textOf(data, 'tags') ?? '').split(/[\s,]+/).filter(Boolean);
    const workspace = await create(
      `/organizations/${organization}/workspaces`,
      'workspaces',
      { ...attributes, 'terraform-version': version ?? 'latest', 'working-directory': directory },
      { ...relationships, tags: { data: tags.map((name) => ({ type: 'tags', attributes: { name } })) } },
    );
    go({ view: 'workspace', organization, workspace: workspace.attributes.name, tab: 'overview' });
  };
  return (
    <FormDialog title="New workspace" submit="Create workspace" onSubmit={submit} onClose={onClose}>
      <NewWorkspaceFields organization={organization} />
      <Text label="Tags" name="tags" hint="Separated by spaces. The cloud block can select workspaces by tag." />
      <More summary="More settings">
        <Text
          label="Terraform version"
          name="terraform-version"
          placeholder="latest"
          hint="A version such as 1.11.4, or a constraint such as ~> 1.11.0."
        />
        <Text label="Working directory" name="working-directory" placeholder="configuration root" />
        <AutoApply />
      </More>
    </FormDialog>
  );
};
