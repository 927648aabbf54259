import type { Resource } from '../../cli/client.ts';
import { displayStatus } from '../../run/display.ts';
import { useLive } from '../live.ts';
import { Loaded } from '../parts/basics.tsx';
import { OrganizationShell } from '../parts/organization-shell.tsx';
import { knowPeople } from '../parts/person.tsx';
import { RunLine } from '../parts/run-line.tsx';
import { factsOf } from '../parts/status.tsx';
import { call, related } from '../session.ts';
import { everyOperation } from './runs.tsx';

/** What an organization's runs are doing: what waits for a person, what runs, what waits for its turn and for whom. */

interface Found {
  open: Resource[];
  recent: Resource[];
  workspaces: Map<string, Resource>;
}

const listOf = async (organization: string, group: 'non_final' | 'final', size: number): Promise<Found['open']> => {
  const path = `/organizations/${organization}/runs?filter[status_group]=${group}&filter[operation]=${everyOperation}`;
  const { data, included } = await call<Resource[]>('GET', `${path}&include=created_by,workspace&page[size]=${size}`);
  knowPeople(included);
  for (const resource of included ?? []) if (resource.type === 'workspaces') seen.set(resource.id, resource);
  return data;
};

const seen = new Map<string, Resource>();

const load = async (organization: string): Promise<Found> => {
  const open = await listOf(organization, 'non_final', 100);
  const recent = await listOf(organization, 'final', 10);
  return { open, recent, workspaces: new Map(seen) };
};

const pace = ({ open }: Found): number => (open.some((run) => toneOf(run) === 'running') ? 1_500 : 4_000);

const toneOf = (run: Resource) => displayStatus(factsOf(run)).tone;

const nameOf = (run: Resource, { workspaces }: Found): string =>
  workspaces.get(related(run, 'workspace') ?? '')?.attributes.name ?? '';

/** Place in its workspace's queue, and what the one in front is up to; by id of the run. */
const waits = ({ open, workspaces }: Found): Map<string, string> => {
  const notes = new Map<string, string>();
  const byWorkspace = Map.groupBy(open.filter(takesTurn), (run) => related(run, 'workspace') ?? '');
  for (const [id, runs] of byWorkspace) {
    const ahead = runs.filter(({ attributes }) => attributes.status !== 'pending');
    const pending = runs
      .filter(({ attributes }) => attributes.status === 'pending')
      .sort((a, b) => (a.attributes['created-at'] < b.attributes['created-at'] ? -1 : 1));
    const [front] = ahead;
    const why = front
      ? `waits for “${front.attributes.message}” (${displayStatus(factsOf(front)).name})`
      : workspaces.get(id)?.attributes.locked
        ? 'waits until the workspace is unlocked'
        : 'about to start';
    pending.forEach((run, i) => {
      notes.set(run.id, `${i + 1} of ${pending.length} in line, ${why}`);
    });
  }
  return notes;
};

/** Plan-only and saved plans pass the queue by. */
const takesTurn = ({ attributes }: Resource): boolean => !attributes['plan-only'] && !attributes['save-plan'];

export const Queue = ({ organization }: { organization: string }) => {
  const live = useLive(`queue/${organization}`, () => load(organization), pace);
  return (
    <OrganizationShell organization={organization} at="queue">
      <h1>Runs</h1>
      <Loaded live={live} what="runs">
        {(found) => {
          const notes = waits(found);
          const groups: [string, string, Resource[]][] = [
            ['Waiting for a person', '', found.open.filter((run) => toneOf(run) === 'attention')],
            ['Running', '', found.open.filter((run) => toneOf(run) === 'running')],
            ['In line', '', found.open.filter((run) => toneOf(run) === 'waiting')],
            ['Lately', 'No run has ended yet.', found.recent],
          ];
          return (
            <>
              {found.open.length === 0 && <p class="soft">Nothing is running, and nothing waits for anybody.</p>}
              {groups.map(([title, none, runs]) =>
                runs.length === 0 && !none ? null : (
                  <section key={title} class="stack">
                    <h2>
                      {title} {runs.length > 0 && title !== 'Lately' && <span class="soft">{runs.length}</span>}
                    </h2>
                    {runs.length === 0 ? (
                      <p class="soft">{none}</p>
                    ) : (
                      <ul class="panel list" aria-label={title}>
                        {runs.map((run) => (
                          <RunLine
                            key={run.id}
                            run={run}
                            organization={organization}
                            workspace={nameOf(run, found)}
                            showWorkspace
                            note={notes.get(run.id)}
                          />
                        ))}
                      </ul>
                    )}
                  </section>
                ),
              )}
            </>
          );
        }}
      </Loaded>
    </OrganizationShell>
  );
};
