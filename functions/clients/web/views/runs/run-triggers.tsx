import { useList } from '#clients/web/live.ts';
import { useItems, type WorkspaceProps } from '#clients/web/organization.ts';
import { Attached } from '#clients/web/parts/attached.tsx';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { Panel } from '#clients/web/parts/section.tsx';
import { call, create, related } from '#clients/web/session.ts';

/** Workspaces whose applies queue a run in this workspace. */
export const RunTriggers = ({ workspace, organization }: WorkspaceProps) => {
  const path = `/workspaces/${workspace.id}/run-triggers`;
  const live = useList<'run-triggers'>(`${path}?filter[run-trigger][type]=inbound`, 30_000);
  const may = workspace.attributes.permissions['can-update'];
  const others = useItems(organization, 'workspaces', may).filter(({ id }) => id !== workspace.id);
  return (
    <Panel title="Run triggers">
      <p class="soft">An apply in one of these workspaces queues a run in this workspace.</p>
      <Loaded live={live} what="run triggers">
        {(triggers) => {
          const bySource = new Map(triggers.map((trigger) => [related(trigger, 'sourceable') ?? '', trigger]));
          return (
            <Attached
              items={[...bySource].map(([id, { attributes }]) => ({
                id,
                name: attributes['sourceable-name'],
                to: { view: 'workspace', organization, workspace: attributes['sourceable-name'], tab: 'overview' },
              }))}
              others={others}
              may={may}
              none={may ? 'No run triggers yet. Choose a source workspace.' : 'No run triggers.'}
              adding="Add a source workspace"
              noun="source workspace"
              onAdd={(id) => create(path, 'run-triggers', {}, { sourceable: { data: { type: 'workspaces', id } } })}
              onRemove={(id) => call('DELETE', `/run-triggers/${bySource.get(id)?.id}`)}
              onChange={live.refresh}
            />
          );
        }}
      </Loaded>
    </Panel>
  );
};
