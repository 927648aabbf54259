import { lazily, WaitingPart } from '#clients/web/lazily.tsx';
import { may, type OrganizationProps, organizationNow } from '#clients/web/organization.ts';
import { DialogButton } from '#clients/web/parts/button.tsx';
import { CloudBlock } from '#clients/web/parts/cloud-block.tsx';
import { NoAccess } from '#clients/web/parts/no-access.tsx';
import { Empty } from '#clients/web/parts/section.tsx';

const NewWorkspace = lazily(
  () => import('#clients/web/groups/workspace.ts'),
  (group) => group.NewWorkspace,
  WaitingPart,
);

/** Only for users with permission to create workspaces. */
export const NewWorkspaceButton = ({ organization }: OrganizationProps) =>
  may(organization, 'can-create-workspace') && (
    <DialogButton text="New workspace" primary>
      {(close) => <NewWorkspace organization={organization} onClose={close} />}
    </DialogButton>
  );

/** Empty state with the next step, depending on permissions. */
export const NoWorkspaces = ({ organization }: OrganizationProps) => {
  const permissions = organizationNow(organization)?.attributes.permissions;
  if (!permissions) return null;
  if (!permissions['can-create-workspace']) return <NoAccess organization={organization} />;
  return (
    <Empty title="Your first workspace">
      <p class="soft">
        A workspace is one configuration with its state, variables and runs. Create one with the button above, or add
        this block to your Terraform configuration and choose a workspace name.
      </p>
      <CloudBlock organization={organization} workspace="example" />
    </Empty>
  );
};
