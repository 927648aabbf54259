import type { Resource } from '#clients/client/client.ts';
import { ConfirmButton } from '#clients/web/parts/dialog.tsx';
import { account, call, related } from '#clients/web/session.ts';

interface RollbackProps {
  version: Resource<'state-versions'>;
  workspace: Resource<'workspaces'>;
  onDone(version: string): void;
}

/** The API requires the writer of a state to hold the lock, so the workspace is locked briefly. */
export const Rollback = ({ version, workspace, onDone }: RollbackProps) => {
  const { locked, name } = workspace.attributes;
  const mine = locked && related(workspace, 'locked-by') === account.value?.id;
  const submit = async () => {
    const path = `/workspaces/${workspace.id}`;
    if (!mine)
      await call('POST', `${path}/actions/lock`, { reason: `Rollback to serial ${version.attributes.serial}` });
    try {
      const { data } = await call('PATCH', `${path}/state-versions`, {
        data: {
          type: 'state-versions',
          relationships: { 'rollback-state-version': { data: { type: 'state-versions', id: version.id } } },
        },
      });
      onDone(data.id);
    } finally {
      if (!mine) await call('POST', `${path}/actions/unlock`, {});
    }
  };
  return (
    <ConfirmButton
      text="Roll back to this"
      title={`Roll ${name} back to serial ${version.attributes.serial}?`}
      yes="Roll back"
      onYes={submit}
    >
      <p>
        Creates a new state version with the content of this one. Real infrastructure stays as it is: Terraform no
        longer tracks resources created since this version. Run a plan before you apply.
      </p>
    </ConfirmButton>
  );
};
