import { describe, expect, it } from 'vitest';
import { isSilent, newTask } from '#test/e2e/support/run-tasks.ts';
import {
  client,
  newName,
  newWorkspace,
  organization,
  platform,
  type Resource,
  resources,
  startRun,
  untilConfirmable,
  untilFinal,
} from '#test/e2e/support/world.ts';
import { stateFile } from '#test/support/state.ts';
import { announce, capabilitiesIn, lifeOf, lock, type Outsider, outsiderWith, put } from './uploads.ts';

/** URLs that grant access: who sees them, what they allow, and when they expire. */

const workspace: Resource = await newWorkspace();
const run: Resource = await untilConfirmable(await startRun(workspace, { 'main.tf': resources(['a']) }));
const reader: Outsider = await outsiderWith(workspace, 'read');
const stranger: Outsider = await outsiderWith(await newWorkspace(), 'write');

/** The redirect target of a path, without following it. */
const leads = async (token: string, path: string) => {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${platform.url}/api/v2${path}`, { headers, redirect: 'manual' });
  await answer.arrayBuffer();
  return { status: answer.status, url: answer.headers.get('location') ?? '' };
};
const status = async (url: string, init: RequestInit = {}) => {
  const answer = await fetch(url, init);
  await answer.arrayBuffer();
  return answer.status;
};

describe('the URL of a log', () => {
  const logUrl = async (by = client) => (await by.phase(run, 'plan')).attributes['log-read-url'] as string;

  it('opens one log for readers of the run, and expires', async () => {
    const url = await logUrl();
    expect(await status(url)).toBe(200);
    expect(await logUrl(reader.client)).toBe(url);
    await expect(logUrl(stranger.client)).rejects.toMatchObject({ status: 404 });
    expect(await status(url.replace('/plan/', '/apply/'))).toBe(404);
    const [, day = ''] = /\/(\d+)\.[\w-]+$/.exec(url) ?? [];
    const days = Number(day) - Math.floor(Date.now() / 86_400_000);
    expect(days).toBeGreaterThanOrEqual(1);
    expect(days).toBeLessThanOrEqual(2);
    expect(await status(url.replace(`/${day}.`, `/${Number(day) + 1}.`))).toBe(404);
    expect(await status(url, { method: 'PUT', body: 'x' })).toBeGreaterThanOrEqual(400);
  });
});

describe('a link to content', () => {
  it.each([
    ['a plan in JSON', () => `/runs/${run.id}/plan/json-output`, 'owner'],
    ['a redacted plan', () => `/runs/${run.id}/plan/json-output-redacted`, 'reader'],
    ['a configuration', () => `/runs/${run.id}/configuration-version/download`, 'reader'],
  ])('of %s is issued to readers, read-only, for one minute', async (_, path, who) => {
    const redirect = await leads(platform.token, path());
    expect(redirect.status).toBeLessThan(308);
    expect(lifeOf(redirect.url)).toBeLessThanOrEqual(60);
    expect(await put(redirect.url, 'forged')).toBe(403);
    expect(await status(redirect.url)).toBe(200);
    // The signature is valid for no other object.
    expect(
      await status(redirect.url.replace(/\/runs\/run-\w{4}/, '/runs/run-AAAA').replace(/\/cv-\w{4}/, '/cv-AAAA')),
    ).toBe(403);
    const others = await leads(reader.token, path());
    expect([others.status < 308, capabilitiesIn(others.url).length > 0 || others.url !== '']).toEqual(
      who === 'reader' ? [true, true] : [false, false],
    );
    expect(await leads(stranger.token, path())).toEqual({ status: 404, url: '' });
  });
});

describe('the URL of an upload', () => {
  it('is short-lived and writes to a staging key', async () => {
    const held = await newWorkspace();
    await lock(client, held);
    const path = `/workspaces/${held.id}/configuration-versions`;
    const all = [
      await announce(client, held, stateFile()),
      await client.create(path, 'configuration-versions', { 'auto-queue-runs': false }),
      await client.create(
        `/policy-sets/${(await client.create(`/organizations/${organization}/policy-sets`, 'policy-sets', { name: newName('set'), kind: 'opa' })).id}/versions`,
        'policy-set-versions',
        {},
      ),
    ].flatMap(capabilitiesIn);
    expect(all).toHaveLength(4);
    for (const url of all) {
      expect(lifeOf(url)).toBeLessThanOrEqual(3600);
      expect(new URL(url).pathname).toMatch(/\/uploads\/[^/]+$/);
      expect(await status(url)).toBe(403);
      expect(await put(url.replace('/uploads/', '/states/'), 'forged')).toBe(403);
    }
  });

  it('is not shown to other callers', async () => {
    const held = await newWorkspace();
    await lock(client, held);
    const version = await announce(client, held, stateFile());
    await expect(stranger.client.get(`/state-versions/${version.id}`)).rejects.toMatchObject({ status: 404 });
    await expect(announce(reader.client, held, stateFile())).rejects.toMatchObject({ status: 404 });
  });
});

describe('the access token of a run task', () => {
  it('is rejected once the run no longer waits for the task', async () => {
    const { server, task } = await newTask(isSilent);
    const watched = await newWorkspace();
    await client.create(
      `/workspaces/${watched.id}/tasks`,
      'workspace-tasks',
      { 'enforcement-level': 'mandatory', stages: ['post_plan'] },
      { task: { data: { type: 'tasks', id: task.id } } },
    );
    const asking = await startRun(watched, { 'main.tf': resources(['a']) });
    const { payload } = await server.request(2);
    const { access_token: token, task_result_callback_url: callback = '', plan_json_api_url: plan = '' } = payload;
    const withToken = { headers: { authorization: `Bearer ${token}` } };
    expect(await status(plan, withToken)).toBe(200);
    for (const other of [`/runs/${run.id}/plan/json-output`, `/runs/${asking.id}`, `/workspaces/${watched.id}`]) {
      expect([401, 403, 404], other).toContain(await status(`${platform.url}/api/v2${other}`, withToken));
    }
    await client.act(asking.id, 'cancel');
    await untilFinal(asking);
    expect(await status(plan, withToken)).toBe(401);
    const answer = JSON.stringify({ data: { type: 'task-results', attributes: { status: 'passed' } } });
    const type = { 'content-type': 'application/vnd.api+json' };
    const late = { method: 'PATCH', headers: { ...withToken.headers, ...type }, body: answer };
    const answered = await fetch(callback, late);
    expect(await answered.json()).toMatchObject({ data: { attributes: { status: 'unreachable' } } });
    expect((await client.run(asking.id)).attributes.status).toBe('canceled');
  });
});
