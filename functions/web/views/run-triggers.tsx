import { useSignal } from '@preact/signals';
import type { Resource } from '../../cli/client.ts';
import { useLive } from '../live.ts';
import { hrefOf } from '../location.ts';
import { Loaded, Notice } from '../parts/basics.tsx';
import { all, call, create, saying } from '../session.ts';

interface Known {
  triggers: Resource[];
  workspaces: { id: string; name: string }[];
}

/** Workspaces whose applies queue a run here. */
export const RunTriggers = ({ workspace, organization }: { workspace: Resource; organization: string }) => {
  const path = `/workspaces/${workspace.id}/run-triggers`;
  const error = useSignal<string | undefined>(undefined);
  const live = useLive(
    path,
    async (): Promise<Known> => {
      const [triggers, workspaces] = await Promise.all([
        all(`${path}?filter[run-trigger][type]=inbound`),
        all(`/organizations/${organization}/workspaces`),
      ]);
      return {
        triggers: triggers.data,
        workspaces: workspaces.data.map(({ id, attributes }) => ({ id, name: attributes.name })),
      };
    },
    () => 30_000,
  );
  const may = workspace.attributes.permissions['can-update'];
  const perform = async (work: Promise<unknown>) => {
    error.value = undefined;
    try {
      await work;
    } catch (caught) {
      error.value = saying(caught);
    }
    live.refresh();
  };
  const add = (id: string) =>
    perform(create(path, 'run-triggers', {}, { sourceable: { data: { type: 'workspaces', id } } }));
  return (
    <section class="panel pad stack">
      <h2>Run triggers</h2>
      <p class="soft">After each apply in one of these workspaces, a run is queued here.</p>
      <Loaded live={live} what="run triggers">
        {({ triggers, workspaces }) => {
          const names = triggers.map(({ attributes }) => attributes['sourceable-name']);
          const others = workspaces.filter(({ id, name }) => id !== workspace.id && !names.includes(name));
          return (
            <>
              <ul class="stack tight">
                {triggers.map(({ id, attributes }) => (
                  <li key={id} class="row spread">
                    <a
                      href={hrefOf({
                        view: 'workspace',
                        organization,
                        workspace: attributes['sourceable-name'],
                        tab: 'overview',
                      })}
                    >
                      {attributes['sourceable-name']}
                    </a>
                    {may && (
                      <button
                        type="button"
                        class="small-button"
                        aria-label={`No longer after ${attributes['sourceable-name']}`}
                        onClick={() => perform(call('DELETE', `/run-triggers/${id}`))}
                      >
                        Remove
                      </button>
                    )}
                  </li>
                ))}
              </ul>
              {may && others.length > 0 && (
                <select
                  aria-label="Run after applies in another workspace"
                  value=""
                  onChange={(event) => {
                    const { value } = event.currentTarget;
                    event.currentTarget.value = '';
                    if (value) add(value);
                  }}
                >
                  <option value="">Run after …</option>
                  {others.map(({ id, name }) => (
                    <option key={id} value={id}>
                      {name}
                    </option>
                  ))}
                </select>
              )}
            </>
          );
        }}
      </Loaded>
      {error.value && <Notice kind="bad">{error.value}</Notice>}
    </section>
  );
};
