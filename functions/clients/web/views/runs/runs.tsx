import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { everyOperation } from '#clients/client/run-facts.ts';
import { pollMs, useLive } from '#clients/web/live.ts';
import type { WorkspaceAndRun } from '#clients/web/organization.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { List, Pager } from '#clients/web/parts/list.tsx';
import { knowPeople } from '#clients/web/parts/person.tsx';
import { partsOf, RunLine } from '#clients/web/parts/run-line.tsx';
import { InLine } from '#clients/web/parts/wait.tsx';
import { call, related } from '#clients/web/session.ts';
import { type Wait, waitsOf } from '#clients/web/text/queue.ts';

const size = 20;

interface ViewData {
  runs: Resource<'runs'>[];
  more: boolean;
  total: number;
  /** Plans and commits of the runs. */
  included: Resource[];
}

const load = async (workspaceId: string, page: number, planOnly: boolean): Promise<ViewData> => {
  const filter = planOnly ? `&filter[operation]=${everyOperation}` : '';
  const path = `/workspaces/${workspaceId}/runs?include=created_by,plan,configuration_version.ingress_attributes&page[size]=${size}&page[number]=${page}${filter}`;
  const { data, included, meta } = await call<Resource[]>('GET', path);
  knowPeople(included);
  return {
    runs: data,
    more: Boolean(meta?.pagination?.['next-page']),
    total: meta?.pagination?.['total-count'] ?? 0,
    included: (included ?? []).filter(({ type }) => type === 'plans' || type === 'ingress-attributes'),
  };
};

const noteOf = (wait: Wait | undefined, cut: boolean) => wait && (cut ? 'queued' : <InLine wait={wait} />);

/** Runs of a workspace, newest first, with queue positions. */
export const Runs = ({ workspace, run: current }: Pick<WorkspaceAndRun, 'workspace' | 'run'>) => {
  const page = useSignal(1);
  const planOnly = useSignal(false);
  const organization = related(workspace, 'organization') ?? '';
  const list = useLive(
    `runs/${workspace.id}/${page.value}/${planOnly.value}`,
    () => load(workspace.id, page.value, planOnly.value),
    pollMs,
  );
  return (
    <Loaded live={list} what="runs">
      {({ runs, more, total, included }) => {
        const parts = new Map(included.map((part) => [part.id, part]));
        const waits = waitsOf({
          open: current && !runs.some(({ id }) => id === current.id) ? [...runs, current] : runs,
          workspaces: new Map([[workspace.id, workspace]]),
        });
        // Runs ahead in the queue may be on the next page.
        const cut = page.value > 1 || (more && runs.at(-1)?.attributes.status === 'pending');
        return (
          <section class="stack">
            <div class="row">
              <label class="choice">
                <input type="checkbox" checked={planOnly.value} onChange={() => (planOnly.value = !planOnly.value)} />
                Show plan-only runs
              </label>
            </div>
            {runs.length === 0 ? (
              <p class="soft">No runs yet. Start one with the button above.</p>
            ) : (
              <List label="Runs" of={runs}>
                {(run) => (
                  <RunLine
                    key={run.id}
                    run={run}
                    organization={organization}
                    workspace={workspace.attributes.name}
                    note={noteOf(waits.get(run.id), cut)}
                    {...partsOf(run, parts)}
                  />
                )}
              </List>
            )}
            <Pager page={page} last={!more}>
              {(page.value - 1) * size + 1}–{(page.value - 1) * size + runs.length} of {total}
            </Pager>
          </section>
        );
      }}
    </Loaded>
  );
};
