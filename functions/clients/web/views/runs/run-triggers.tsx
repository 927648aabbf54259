import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { useItems } from '#clients/web/organization.ts';
import { Attached } from '#clients/web/parts/attached.tsx';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { all, call, create, related } from '#clients/web/session.ts';

/** Workspaces whose applies queue a run in this workspace. */
export const RunTriggers = ({
  workspace,
  organization,
}: {
  workspace: Resource<'workspaces'>;
  organization: string;
}) => {
  const path = `/workspaces/${workspace.id}/run-triggers`;
  const live = useLive(
    path,
    async () => (await all<'run-triggers'>(`${path}?filter[run-trigger][type]=inbound`)).data,
    () => 30_000,
  );
  const may = workspace.attributes.permissions['can-update'];
  const others = useItems(organization, 'workspaces', may).filter(({ id }) => id !== workspace.id);
  return (
    <section class="panel pad stack">
      <h2>Run triggers</h2>
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
              prompt="Add a source workspace …"
              removing={(name) => `source workspace ${name}`}
              onAdd={(id) => create(path, 'run-triggers', {}, { sourceable: { data: { type: 'workspaces', id } } })}
              onRemove={(id) => call('DELETE', `/run-triggers/${bySource.get(id)?.id}`)}
              onChange={live.refresh}
            />
          );
        }}
      </Loaded>
    </section>
  );
};
