import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import type { WorkspaceProps } from '#clients/web/organization.ts';
import { Select } from '#clients/web/parts/fields.tsx';
import { all, related } from '#clients/web/session.ts';

/** Execution mode of a workspace. */

/** Agent pools that the workspace may use. */
const usePools = (organization: string, workspace: Resource<'workspaces'>): Resource<'agent-pools'>[] => {
  const { name, permissions } = workspace.attributes;
  const path = `/organizations/${organization}/agent-pools?filter[allowed-workspaces][name]=${encodeURIComponent(name)}`;
  const mayUpdate = permissions['can-update'] === true;
  const live = useLive(
    `${path} ${mayUpdate}`,
    async () => (mayUpdate ? (await all<'agent-pools'>(path)).data : []),
    mayUpdate ? 60_000 : undefined,
  );
  return live.value ?? [];
};

/** Values of {@link Execution}; null: the project's default. */
export const executionIn = (workspace: Resource<'workspaces'>) => ({
  'execution-mode': workspace.attributes['setting-overwrites']?.['execution-mode']
    ? workspace.attributes['execution-mode']
    : null,
  'agent-pool-id': related(workspace, 'agent-pool') ?? null,
});

export const Execution = ({ workspace, organization }: WorkspaceProps) => {
  const { 'execution-mode': ownMode, 'agent-pool-id': pool } = executionIn(workspace);
  const pools = usePools(organization, workspace);
  const mode = useSignal<string>(ownMode ?? '');
  const names = new Map(pools.map(({ id, attributes }) => [id, attributes.name]));
  // A pool in use that the user cannot see is shown by id.
  if (pool && !names.has(pool)) names.set(pool, pool);
  return (
    <>
      <Select
        label="Execution mode"
        name="execution-mode"
        options={[
          ['', ownMode ? 'project default' : `project default (${workspace.attributes['execution-mode']})`],
          ['remote', 'remote'],
          ['local', 'local'],
          ...(names.size ? [['agent', 'agent'] as const] : []),
        ]}
        chosen={mode}
        hint={
          names.size
            ? 'Local: Terraform runs on your machine, and only the state is stored here. Agent: runs execute on your own machines.'
            : 'Local: Terraform runs on your machine, and only the state is stored here.'
        }
      />
      {mode.value === 'agent' && (
        <Select label="Agent pool" name="agent-pool-id" options={[...names]} value={pool ?? undefined} />
      )}
    </>
  );
};
