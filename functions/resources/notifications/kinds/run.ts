import { environment } from '#platform/environment.ts';
import { getRun } from '#resources/runs/records.ts';
import { getUsers } from '#resources/users/users.ts';
import { getWorkspace } from '#resources/workspaces/records.ts';
import { authorOf, type RunEvent, type RunFacts, runMessage } from '#run/notifications/run.ts';
import { nameOfCreator, type Run } from '#run/run.ts';
import { announce, wantingOf } from '../announce.ts';

type People = Pick<RunFacts, 'createdBy' | 'updatedBy'>;

const peopleOf = async (run: Run, { status }: RunEvent): Promise<People> => {
  const author = authorOf(run, status);
  const users = await getUsers([...new Set([run.createdBy, ...(author ? [author] : [])])]);
  const nameOf = (id: string) => users.find((user) => user.id === id)?.username ?? id;
  const creator = users.find((user) => user.id === run.createdBy)?.username ?? nameOfCreator(run);
  return { createdBy: creator, updatedBy: author ? nameOf(author) : null };
};

export const announceRun = async (event: RunEvent): Promise<void> => {
  const run = await getRun(event.runId);
  const workspace = run && (await getWorkspace(run.workspaceId));
  if (!workspace) return;
  const interested = await wantingOf(workspace, event.trigger);
  if (interested.length === 0) return;
  const people = await peopleOf(run, event);
  const { publicUrl: baseUrl } = environment;
  await announce(interested, {
    trigger: event.trigger,
    status: event.status,
    projectId: workspace.projectId,
    aboutId: run.id,
    eventId: event.id,
    message: (configurationId) => runMessage(run, event, { ...people, configurationId, baseUrl }),
  });
};
