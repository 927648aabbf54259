import { useMemo } from 'preact/hooks';
import type { Resource } from '#clients/client/client.ts';
import { everyOperation } from '#clients/client/run-facts.ts';
import { pollMs, useLive } from '#clients/web/live.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { Loaded, Notice } from '#clients/web/parts/basics.tsx';
import { List } from '#clients/web/parts/list.tsx';
import { OrganizationShell } from '#clients/web/parts/organization-shell.tsx';
import { knowPeople } from '#clients/web/parts/person.tsx';
import { partsOf, RunLine } from '#clients/web/parts/run-line.tsx';
import { Counted } from '#clients/web/parts/section.tsx';
import { factsOf } from '#clients/web/parts/status.tsx';
import { InLine } from '#clients/web/parts/wait.tsx';
import { listAtLeast, related } from '#clients/web/session.ts';
import { type Wait, waitsOf } from '#clients/web/text/queue.ts';
import { displayStatus } from '#run/display.ts';
import { isFinal, runStatuses } from '#run/status.ts';

/** Runs of an organization: needing attention, running, queued and recent. */

interface QueueData {
  open: Resource<'runs'>[];
  recent: Resource<'runs'>[];
  workspaces: Resource<'workspaces'>[];
  /** Plans and commits of the runs. */
  parts: Resource[];
  /** More runs are queued than are shown. */
  cut: boolean;
}

/** Queued runs are requested separately, so that hundreds of them do not crowd out running ones. */
const working = runStatuses.filter((status) => status !== 'pending' && !isFinal(status)).join();
const maxListed = 500;

/** A long queue is polled less often. */
const pace = ({ open }: QueueData): number => pollMs * Math.ceil((open.length + 1) / 100);

/** Reads finished runs again when the set of unfinished runs has changed. */
const reader = (organization: string): (() => Promise<QueueData>) => {
  const workspaces = new Map<string, Resource<'workspaces'>>();
  const recentParts = new Map<string, Resource>();
  const listOf = async (filter: string, limit: number, parts: Map<string, Resource>): Promise<Resource[]> => {
    const { data, included } = await listAtLeast(
      `/organizations/${organization}/runs?${filter}&filter[operation]=${everyOperation}&include=created_by,workspace,plan,configuration_version.ingress_attributes`,
      limit,
    );
    knowPeople(included);
    for (const resource of included) {
      if (resource.type === 'workspaces') workspaces.set(resource.id, resource);
      else if (resource.type !== 'users') parts.set(resource.id, resource);
    }
    return data;
  };
  let recent: Resource<'runs'>[] = [];
  let lastIds: string | undefined;
  return async () => {
    const parts = new Map<string, Resource>();
    // Builds of environments are in the same queue.
    const line = await listOf('filter[status]=pending&filter[managed]=true', maxListed, parts);
    const busy = await listOf(`filter[status]=${working}&filter[managed]=true`, 100, parts);
    // A run that left the queue between the two requests is in both.
    const open = [...new Map([...line, ...busy].map((run) => [run.id, run])).values()];
    const ids = open.map(({ id }) => id).join();
    if (ids !== lastIds) {
      recentParts.clear();
      recent = await listOf('filter[status_group]=final', 10, recentParts);
    }
    lastIds = ids;
    const all = [...parts.values(), ...recentParts.values()];
    return { open, recent, parts: all, workspaces: [...workspaces.values()], cut: line.length >= maxListed };
  };
};

const toneOf = (run: Resource<'runs'>) => displayStatus(factsOf(run)).tone;

const nameOf = (run: Resource<'runs'>, workspaces: Map<string, Resource<'workspaces'>>): string =>
  workspaces.get(related(run, 'workspace') ?? '')?.attributes.name ?? '';

const noteOf = (wait: Wait | undefined) => wait && <InLine wait={wait} />;

export const Queue = ({ organization }: OrganizationProps) => {
  const read = useMemo(() => reader(organization), [organization]);
  const live = useLive(`queue/${organization}`, read, pace);
  return (
    <OrganizationShell organization={organization} at="queue">
      <Loaded live={live} what="runs">
        {(queue) => {
          const workspaces = new Map(queue.workspaces.map((workspace) => [workspace.id, workspace]));
          const parts = new Map(queue.parts.map((part) => [part.id, part]));
          const notes = waitsOf({ open: queue.open, workspaces });
          const groups: [string, string, Resource<'runs'>[]][] = [
            ['Needs attention', '', queue.open.filter((run) => toneOf(run) === 'attention')],
            ['Running', '', queue.open.filter((run) => toneOf(run) === 'running')],
            // Longest waiting first, as in the queue.
            ['Queued', '', queue.open.filter((run) => toneOf(run) === 'waiting').reverse()],
            ['Recent', 'No finished runs yet.', queue.recent],
          ];
          return (
            <>
              {queue.open.length === 0 && (
                <p class="soft">
                  No runs in progress. Runs start on a workspace’s page, from Terraform, or from a push.
                </p>
              )}
              {queue.cut && (
                <Notice kind="warn">
                  More than {maxListed} runs are queued. Only the latest {maxListed} are shown.
                </Notice>
              )}
              {groups.map(([title, none, runs]) =>
                runs.length === 0 && !none ? null : (
                  <Counted key={title} title={title} count={title === 'Recent' ? 0 : runs.length}>
                    {runs.length === 0 ? (
                      <p class="soft">{none}</p>
                    ) : (
                      <List label={title} of={runs}>
                        {(run) => (
                          <RunLine
                            key={run.id}
                            run={run}
                            organization={organization}
                            workspace={nameOf(run, workspaces)}
                            showWorkspace
                            note={noteOf(notes.get(run.id))}
                            {...partsOf(run, parts)}
                          />
                        )}
                      </List>
                    )}
                  </Counted>
                ),
              )}
            </>
          );
        }}
      </Loaded>
    </OrganizationShell>
  );
};
