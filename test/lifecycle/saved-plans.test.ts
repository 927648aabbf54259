import { expect, it } from 'vitest';
import { newId } from '#platform/store/id.ts';
import { keys, objects } from '#platform/store/keys.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { isAccepted } from '#run/actions.ts';
import { resume } from '#run/lifecycle.ts';
import type { Run } from '#run/run.ts';
import { uniqueName } from '#test/support/api.ts';
import { startAws } from '#test/support/aws.ts';
import { newRun } from '#test/support/run.ts';
import { stateFile } from '#test/support/state.ts';
import { startStorage } from '#test/support/storage.ts';

const aws = await startAws();
await startStorage();
const actions = await import('#lifecycle/decisions/decisions.ts');
const { finishRun } = await import('#lifecycle/phases/finish.ts');
const locks = await import('#lifecycle/queue/locks.ts');
const { handler: plannedAndSaved } = await import('#lifecycle/states/planned-and-saved.ts');
const { putObject } = await import('#platform/store/bucket.ts');
const { create } = await import('#platform/store/table.ts');
const configurations = await import('#resources/configurations/records.ts');
const runs = await import('#resources/runs/records.ts');
const saved = await import('#resources/runs/saved-plans.ts');
const { finalizeStateVersion } = await import('#resources/states/finalize.ts');
const { createStateVersion, getStateVersion } = await import('#resources/states/records.ts');
const workspaces = await import('#resources/workspaces/records.ts');

const newWorkspace = async (): Promise<Workspace> => {
  const settings = { ...workspaces.defaultSettings, organization: 'acme', projectId: 'prj-1', tags: [] };
  return (await workspaces.createWorkspace({ ...settings, name: uniqueName('ws') })) as Workspace;
};

const read = async (id: string) => (await workspaces.getWorkspace(id)) as Workspace;
const readRun = async ({ id }: Run) => (await runs.getRun(id)) as Run;

/** A run with a saved plan of the workspace's current state. */
const planned = async (workspace: Workspace, change: Partial<Run> = {}): Promise<Run> => {
  const run = newRun({ id: newId('run'), workspaceId: workspace.id, savePlan: true, status: 'planning', ...change });
  await create({ ...keys.run(run.id), ...run });
  await saved.recordPlanBasis(run, await read(workspace.id));
  return readRun(run);
};

const save = (run: Run) => plannedAndSaved({ runId: run.id, token: `${run.id}/1` });

let serial = 0;

type Cut = { call: number; when: 'before' | 'after' } | undefined;

/** Another user uploads a new state. `cut` is the call that fails while the state becomes current. */
const changeState = async (workspaceId: string, cut?: Cut): Promise<void> => {
  await locks.lockWorkspace(workspaceId, 'user-1', '');
  const { text, ...file } = stateFile({ serial: ++serial });
  const workspace = await read(workspaceId);
  const outcome = await createStateVersion({ workspace, userId: 'user-1', force: true, intermediate: false, ...file });
  if ('conflict' in outcome) throw new Error(outcome.conflict);
  await putObject(objects.upload(`${outcome.stateVersion.id}.tfstate`), text);
  await again(cut, async () => {
    const version = await getStateVersion(outcome.stateVersion.id);
    if (version) await finalizeStateVersion(version);
  });
  await locks.unlockWorkspace(workspaceId, 'user-1');
};

/** Retries the interrupted function. */
const again = async (cut: Cut, work: () => Promise<unknown>): Promise<void> => {
  if (!cut) return void (await work());
  aws.failCall(cut.call, cut.when);
  await work().catch(work);
  aws.failCall(0, 'before');
};

const answersTo = (run: Run) =>
  aws.sent.filter(({ input }) => input.taskToken?.startsWith(`${run.id}/`)).map(({ input }) => input.error);

it('a saved plan is discarded with a reason when the state changes', async () => {
  const workspace = await newWorkspace();
  const run = await planned(workspace);
  await save(run);
  expect(isAccepted('apply', await readRun(run))).toBe(true);
  await changeState(workspace.id);
  const discarded = await readRun(run);
  expect(discarded).toMatchObject({ decision: { action: 'discard' } });
  expect(answersTo(run)).toEqual(['Discarded']);
  expect((await read(workspace.id)).savedPlans).toBeUndefined();
  await finishRun(run.id, 'Discarded', { Error: 'Discarded' });
  expect((await readRun(run)).endReason).toContain('state has changed');
  expect(await actions.decide(discarded, 'apply', 'user-1')).toBe('conflict');
});

it('a confirmed saved plan is discarded in the queue, but not after it has left the queue', async () => {
  const workspace = await newWorkspace();
  const [waiting, current] = [await planned(workspace), await planned(workspace)];
  for (const run of [waiting, current]) {
    await save(run);
    await actions.decide(await readRun(run), 'apply', 'user-1');
  }
  await runs.updateRun(current.id, { set: { current: true } });
  await changeState(workspace.id);
  const late = await readRun(waiting);
  expect(resume({ ...late, wait: { state: 'Confirmed', token: 't' } })).toMatchObject({ error: 'Discarded' });
  expect((await readRun(current)).decision?.action).toBe('apply');
});

const cuts: Cut[] = [1, 2, 3, 4, 5, 6, 7].flatMap((call) => [
  { call, when: 'before' as const },
  { call, when: 'after' as const },
]);

it.each([
  [
    'comes after the plan was saved',
    async (run: Run, cut: Cut) => {
      await save(run);
      await changeState(run.workspaceId, cut);
    },
  ],
  [
    'was there before the plan is saved',
    async (run: Run, cut: Cut) => {
      await changeState(run.workspaceId);
      await again(cut, () => save(run));
    },
  ],
  [
    'comes while the plan is saved',
    async (run: Run) => {
      await Promise.all([save(run), changeState(run.workspaceId)]);
    },
  ],
])('a saved plan is discarded after a state that %s, despite crashes', async (_, meet) => {
  const workspace = await newWorkspace();
  for (const cut of cuts) {
    const run = await planned(workspace);
    await meet(run, cut);
    expect((await readRun(run)).decision, JSON.stringify(cut)).toMatchObject({ action: 'discard' });
    expect(answersTo(run)).toContain('Discarded');
  }
});

it('the configuration of an applied saved plan becomes the current one', async () => {
  const workspace = await newWorkspace();
  const version = await configurations.createConfigurationVersion({
    organization: 'acme',
    workspaceId: workspace.id,
    autoQueueRuns: false,
    speculative: false,
    provisional: true,
    source: 'terraform+cloud',
    createdBy: 'user-1',
  });
  await putObject(objects.upload(`${version.id}.tar.gz`), Buffer.from([0x1f, 0x8b, 0]));
  const run = await planned(workspace, { configurationVersionId: version.id });
  await save(run);
  const { latestConfigurationVersion: latest } = await import('#resources/configurations/latest.ts');
  expect(await latest(workspace.id)).toBeUndefined();
  await finishRun(run.id, 'Applied');
  expect((await latest(workspace.id))?.id).toBe(version.id);
  expect((await read(workspace.id)).savedPlans).toBeUndefined();
});
