import type { EventBridgeEvent } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { gzipHead, startApi } from '#test/support/api.ts';

const api = await startApi();
const { handler: uploaded } = await import('#lifecycle/creation/configuration-uploaded.ts');
const { handler: enterFetching } = await import('#lifecycle/states/fetching.ts');
const { putObject } = await import('#platform/store/bucket.ts');
const { keys } = await import('#platform/store/keys.ts');
const { update } = await import('#platform/store/table.ts');
const { getRun, updateRun } = await import('#resources/runs/records.ts');

const create = async (workspaceId: string, attributes: object = {}) => {
  const answer = await api.post(`workspaces/${workspaceId}/configuration-versions`, attributes);
  expect(answer.status).toBe(201);
  return answer.body.data;
};
const runsOf = async (workspaceId: string) => (await api.get(`workspaces/${workspaceId}/runs`)).body.data;
const event = (key: string) =>
  ({ detail: { object: { key } } }) as unknown as EventBridgeEvent<'Object Created', { object: { key: string } }>;

describe('an upload', () => {
  it('starts its run once, however often the upload is reported', async () => {
    const workspace = await api.workspace();
    const { id } = await create(workspace.id);
    const key = `uploads/${id}.tar.gz`;
    await putObject(key, gzipHead);
    await Promise.all([
      uploaded(event(key)),
      api.get(`configuration-versions/${id}`),
      uploaded(event(key)),
      api.get(`configuration-versions/${id}`),
    ]);
    await uploaded(event(key));
    const runs = await runsOf(workspace.id);
    expect(runs).toHaveLength(1);
    expect(runs[0]).toMatchObject({
      attributes: { source: 'tfe-configuration-version', 'plan-only': false },
      relationships: { 'configuration-version': { data: { id } }, 'created-by': { data: { id: api.userId } } },
    });
    const started = api.aws.sent.filter(
      ({ action, input }) => action === 'StartExecution' && input.name === runs[0].id,
    );
    expect(started.length).toBeGreaterThan(0);
  });

  it('starts a plan-only run when it is speculative, and no run without auto-queue-runs', async () => {
    const workspace = await api.workspace();
    await api.configuration(workspace.id, { 'auto-queue-runs': false });
    expect(await runsOf(workspace.id)).toEqual([]);
    await api.configuration(workspace.id, { speculative: true });
    const all = await api.get(`workspaces/${workspace.id}/runs?filter[operation]=plan_only`);
    expect(all.body.data).toMatchObject([{ attributes: { 'plan-only': true, 'auto-apply': false } }]);
  });

  it('starts its run by the event when the first reader was interrupted', async () => {
    const workspace = await api.workspace();
    const { id } = await create(workspace.id);
    await putObject(`uploads/${id}.tar.gz`, gzipHead);
    const { checkUpload, getConfigurationVersion } = await import('#resources/configurations/records.ts');
    await checkUpload((await getConfigurationVersion(id)) as never);
    expect(await runsOf(workspace.id)).toEqual([]);
    await uploaded(event(`uploads/${id}.tar.gz`));
    expect(await runsOf(workspace.id)).toHaveLength(1);
  });

  it('starts no run in a workspace that meanwhile runs Terraform locally or is deleted', async () => {
    for (const [attributes, method] of [
      [{ 'execution-mode': 'local' }, 'PATCH'],
      [{}, 'DELETE'],
    ] as const) {
      const workspace = await api.workspace();
      const { id } = await create(workspace.id);
      await api.call(method, `workspaces/${workspace.id}`, { body: { data: { attributes } } });
      await putObject(`uploads/${id}.tar.gz`, gzipHead);
      await uploaded(event(`uploads/${id}.tar.gz`));
      expect(api.aws.sent.some(({ input }) => input.input?.includes(workspace.id))).toBe(false);
    }
  });

  it('ignores uploads of other objects', async () => {
    await uploaded(event('states/ws-1/sv-1.tfstate'));
    await uploaded(event('uploads/cv-unknown.tar.gz'));
  });
});

describe('a run that waits for its configuration', () => {
  const fetching = async (set: { notifies?: true } = {}) => {
    const { id: workspaceId } = await api.workspace();
    const version = await create(workspaceId, { 'auto-queue-runs': false });
    const on = { type: 'configuration-versions', id: version.id };
    const workspace = { data: { type: 'workspaces', id: workspaceId } };
    const run = (await api.post('runs', {}, { workspace, 'configuration-version': { data: on } })).body.data.id;
    await updateRun(run, { set });
    await enterFetching({ runId: run, token: `${run}/1` });
    return { run, key: `uploads/${version.id}.tar.gz`, version: version.id as string };
  };
  const answers = (run: string) => api.aws.sent.filter(({ input }) => input.taskToken === `${run}/1`);

  it('continues with the upload, whichever of both is first', async () => {
    const waiting = await fetching();
    expect(answers(waiting.run)).toEqual([]);
    await putObject(waiting.key, gzipHead);
    await uploaded(event(waiting.key));
    await uploaded(event(waiting.key));
    expect(answers(waiting.run).map(({ action }) => action)).toContain('SendTaskSuccess');
    expect((await getRun(waiting.run))?.verdicts?.fetching).toBe('passed');
    const late = await fetching();
    await putObject(late.key, gzipHead);
    await enterFetching({ runId: late.run, token: `${late.run}/1` });
    expect((await getRun(late.run))?.verdicts?.fetching).toBe('passed');
    await updateRun(late.run, { remove: ['verdicts.fetching'] });
    await enterFetching({ runId: late.run, token: `${late.run}/1` });
    expect((await getRun(late.run))?.verdicts?.fetching, 'after the upload was processed').toBe('passed');
  });

  it('fails with an archive that cannot be read, or that was archived, with the reason', async () => {
    const { run, key } = await fetching();
    await putObject(key, 'no archive at all');
    await uploaded(event(key));
    expect(await getRun(run)).toMatchObject({
      verdicts: { fetching: 'failed' },
      failure: expect.stringMatching(/gzip/),
    });
    const archived = await fetching();
    await update(keys.configurationVersion(archived.version), { set: { status: 'archived' } });
    await enterFetching({ runId: archived.run, token: `${archived.run}/1` });
    expect((await getRun(archived.run))?.failure).toBe(`Configuration version ${archived.version} is archived.`);
  });

  it('that has ended is not resumed', async () => {
    const { run, key } = await fetching();
    await updateRun(run, { set: { status: 'canceled' } });
    await putObject(key, gzipHead);
    await uploaded(event(key));
    expect((await getRun(run))?.verdicts?.fetching).toBeUndefined();
  });
});
