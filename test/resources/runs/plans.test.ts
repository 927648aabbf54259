import { gunzipSync, gzipSync } from 'node:zlib';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { logPath } from '#resources/runs/log-links.ts';
import type { Run } from '#run/run.ts';
import { altered } from '#test/support/altered-text.ts';
import { eventOf, startApi } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';

let run: Run;
const api = await startApi();
const store = await import('#resources/runs/records.ts');
const logs = (await import('#resources/runs/logs-handler.ts')).handler;

const fresh = async (): Promise<Run> => {
  const { id } = await api.workspace();
  await api.configuration(id);
  const response = await api.post('runs', {}, { workspace: { data: { type: 'workspaces', id } } });
  return (await store.getRun(response.body.data.id)) as Run;
};
const suffix = ({ id }: Run) => id.slice('run-'.length);
const report = (artifacts: string[]) => ({
  outcome: 'finished',
  hasChanges: true,
  artifacts: Object.fromEntries(artifacts.map((one) => [one, 'sha'])),
});

describe('plans and applies', () => {
  it("have a log URL from the start, at the client's host", async () => {
    run = await fresh();
    const plan = (await api.get(`plans/plan-${suffix(run)}`)).body.data;
    expect(plan).toMatchObject({ type: 'plans', attributes: { status: 'pending', 'has-changes': false } });
    expect(plan.attributes['log-read-url']).toBe(`https://api.example.test${logPath(run, 'plan')}`);
    const apply = (await api.get(`applies/apply-${suffix(run)}`)).body.data;
    expect(apply).toMatchObject({ type: 'applies', attributes: { status: 'pending' } });
    expect(apply.attributes['log-read-url']).toBe(`https://api.example.test${logPath(run, 'apply')}`);
    expect((await api.get(`runs/${run.id}/plan`)).body.data).toEqual(plan);
    expect((await api.get(`runs/${run.id}/apply`)).body.data).toEqual(apply);
  });

  it('have ids of their own type', async () => {
    for (const path of [`plans/${run.id}`, `plans/apply-${suffix(run)}`, `applies/plan-${suffix(run)}`]) {
      expect((await api.get(path)).status).toBe(404);
    }
  });

  it('return the JSON plan: 204 until it exists, then a redirect without credentials', async () => {
    const { putObject } = await import('#platform/store/bucket.ts');
    const paths = [`plans/plan-${suffix(run)}/json-output`, `runs/${run.id}/plan/json-output`];
    for (const path of paths) expect((await api.get(path)).status).toBe(204);
    await putObject(`runs/${run.id}/plan/plan-json`, '{"planned":true}');
    await store.updateRun(run.id, { set: { 'plan.report': report(['plan-json']) } });
    for (const path of paths) {
      const answer = await api.get(path);
      expect(answer.status).toBe(307);
      expect(await (await fetch(answer.headers.location as string)).json()).toEqual({ planned: true });
    }
  });

  it('return the redacted plan: 503 until it exists, 404 if it never will', async () => {
    const path = `plans/plan-${suffix(run)}/json-output-redacted`;
    const ofRun = `runs/${run.id}/plan/json-output-redacted`;
    const answered = async () => [(await api.get(path)).status, (await api.get(ofRun)).status];
    expect(await answered()).toEqual([503, 503]);
    await store.updateRun(run.id, { set: { 'plan.report': report(['plan-json-redacted']) } });
    expect(await answered()).toEqual([307, 307]);
    await store.updateRun(run.id, { set: { 'plan.report': report([]), 'plan.status': 'errored' } });
    expect(await answered()).toEqual([404, 404]);
  });

  it('return a large redacted plan compressed to clients that accept it', async () => {
    const { putObject } = await import('#platform/store/bucket.ts');
    const other = await fresh();
    const path = `plans/plan-${suffix(other)}/json-output-redacted`;
    await putObject(`runs/${other.id}/plan/plan-json-redacted`, '{"compressed":false}');
    await putObject(`runs/${other.id}/plan/plan-json-redacted-gzip`, gzipSync('{"compressed":true}'));
    const read = async (headers: Record<string, string>) => {
      const { headers: answered } = await api.get(path, { headers });
      return (await fetch(answered.location as string)).json();
    };
    const gzip = { 'accept-encoding': 'gzip, deflate, br' };
    await store.updateRun(other.id, { set: { 'plan.report': report(['plan-json-redacted']) } });
    expect(await read(gzip)).toEqual({ compressed: false });
    const both = report(['plan-json-redacted', 'plan-json-redacted-gzip']);
    await store.updateRun(other.id, { set: { 'plan.report': both } });
    expect(await read(gzip)).toEqual({ compressed: true });
    expect(await read({ 'accept-encoding': 'gzip;q=0, br' })).toEqual({ compressed: false });
    expect(await read({})).toEqual({ compressed: false });
  });

  it('return provider schemas: 204 until they exist, 404 if they never will', async () => {
    const { putObject } = await import('#platform/store/bucket.ts');
    const other = await fresh();
    const paths = [`plans/plan-${suffix(other)}/json-schema`, `runs/${other.id}/plan/json-schema`];
    for (const path of paths) expect((await api.get(path)).status).toBe(204);
    const finished = (at: string) =>
      store.updateRun(other.id, { set: { 'plan.status': 'finished', 'plan.statusTimestamps.finished-at': at } });
    await finished(new Date().toISOString());
    for (const path of paths) expect((await api.get(path)).status).toBe(204);
    await finished('2026-01-01T00:00:00.000Z');
    for (const path of paths) expect((await api.get(path)).status).toBe(404);
    await putObject(`runs/${other.id}/plan/provider-schemas`, '{"format_version":"1.0"}');
    for (const path of paths) {
      const answer = await api.get(path);
      expect(answer.status).toBe(307);
      expect(await (await fetch(answer.headers.location as string)).json()).toEqual({ format_version: '1.0' });
    }
    expect((await api.get(`plans/plan-${suffix(other)}`)).body.data.links['json-schema']).toBe(`/api/v2/${paths[0]}`);
  });

  it('return the errored state to callers with permission to read state', async () => {
    const { putObject } = await import('#platform/store/bucket.ts');
    const { objects } = await import('#platform/store/keys.ts');
    const failed = await fresh();
    const path = `applies/apply-${suffix(failed)}`;
    expect((await api.get(path)).body.data.links['errored-state']).toBeUndefined();
    await putObject(objects.erroredState(failed.workspaceId, failed.id), '{"serial":7}');
    await store.updateRun(failed.id, {
      set: {
        'apply.status': 'errored',
        'apply.report': { outcome: 'errored' },
        unsaved: { runId: failed.id, serial: 7, lineage: 'l', stored: true },
      },
    });
    expect((await api.get(path)).body.data.links['errored-state']).toBe(`/api/v2/${path}/errored-state`);
    const { status, headers } = await api.get(`${path}/errored-state`);
    expect(status).toBe(307);
    expect(await (await fetch(headers.location as string)).json()).toEqual({ serial: 7 });
    await store.updateRun(failed.id, { set: { 'apply.content': 'soft_deleted' } });
    expect((await api.get(`${path}/errored-state`)).status).toBe(404);
  });

  it('report expired content', async () => {
    const { update } = await import('#platform/store/table.ts');
    const { keys } = await import('#platform/store/keys.ts');
    const old = await fresh();
    const path = `plans/plan-${suffix(old)}/json-output`;
    await store.updateRun(old.id, { set: { 'plan.status': 'finished', 'plan.report': report(['plan-json', 'log']) } });
    expect((await api.get(path)).status).toBe(307);
    const created = { createdAt: new Date(Date.now() - 91 * 24 * 3600 * 1000).toISOString() };
    await store.updateRun(old.id, { set: created });
    const { status, body } = await api.get(path);
    expect([status, body.errors[0].detail]).toEqual([404, `The content of the plan of run ${old.id} has expired.`]);
    const log = await logs(eventOf('GET', logPath(old, 'plan')) as APIGatewayProxyEventV2);
    expect(Buffer.from(log.body ?? '', 'base64').toString()).toBe('\u0002This log has expired.\n\u0003');

    const version = keys.configurationVersion(old.configurationVersionId);
    await update(version, { set: { ...created, status: 'uploaded' } });
    const archive = `configuration-versions/${old.configurationVersionId}/download`;
    expect((await api.get(archive)).status).toBe(302);
    await update(version, { set: { archive: { key: 'configurations/cv-expired.tar.gz', sha256: '' } } });
    expect((await api.get(archive)).body.errors[0].detail).toMatch(/has expired\. Upload the configuration again\./);
  });

  it('have no errored state after a normal apply', async () => {
    const { status, body } = await api.get(`applies/apply-${suffix(run)}/errored-state`);
    expect([status, body.errors[0].detail]).toEqual([404, expect.stringContaining(run.id)]);
    expect((await api.get('applies/apply-unknown/errored-state')).status).toBe(404);
  });

  it('show the unredacted plan to admins only', async () => {
    const { token } = await (await memberHelpers()).withLevel('acme', 'write');
    expect((await api.get(`plans/plan-${suffix(run)}`, { token })).status).toBe(200);
    expect((await api.get(`plans/plan-${suffix(run)}/json-output`, { token })).status).toBe(403);
  });
});

describe('logs', () => {
  const text = '\u0002line 1\nüline 2\n\u0003';
  const get = async (path: string, sent: Record<string, string> = {}) => {
    const event = eventOf('GET', path) as APIGatewayProxyEventV2;
    const asked = { ...event, headers: { ...event.headers, ...sent } };
    const { statusCode, headers, body, isBase64Encoded } = await logs(asked);
    expect(isBase64Encoded).toBe(true);
    return { status: statusCode, headers, bytes: Buffer.from(body ?? '', 'base64') };
  };
  let url: string;

  beforeAll(async () => {
    const { appendLog } = await import('#resources/runs/logs.ts');
    const logged = await fresh();
    url = logPath(logged, 'plan');
    await store.updateRun(logged.id, { set: { 'plan.status': 'running' } });
    const bytes = Buffer.from(text);
    await appendLog(logged.id, 'plan', 0, bytes.subarray(0, 5));
    await appendLog(logged.id, 'plan', 5, bytes.subarray(5));
  });

  it('are readable from any offset without a token', async () => {
    const whole = await get(`${url}?limit=65536&offset=0`);
    expect(whole).toMatchObject({
      status: 200,
      headers: { 'content-type': 'text/plain', 'cache-control': 'no-store' },
    });
    expect(whole.bytes.toString()).toBe(text);
    const bytes = Buffer.from(text);
    for (let offset = 0; offset <= bytes.length; offset++) {
      const read = await get(`${url}?limit=4&offset=${offset}`);
      const length = read.bytes.length;
      expect(length).toBeGreaterThan(offset < bytes.length ? 0 : -1);
      expect(read.bytes.equals(bytes.subarray(offset, offset + length))).toBe(true);
    }
  });

  describe('requested by a reader that waits', () => {
    beforeAll(() => {
      process.env.LOG_WAIT_MS = '60000';
    });
    afterAll(() => {
      delete process.env.LOG_WAIT_MS;
    });

    it('are returned once they grow, their phase ends, or the wait times out', async () => {
      const { appendLog } = await import('#resources/runs/logs.ts');
      const logged = await fresh();
      const become = (status: string) => store.updateRun(logged.id, { set: { 'plan.status': status } });
      const from = (offset: number) => get(`${logPath(logged, 'plan')}?offset=${offset}`);
      expect(await from(0)).toMatchObject({ status: 200, bytes: Buffer.alloc(0) });
      await become('running');
      let isAnswered = false;
      const first = from(0).finally(() => {
        isAnswered = true;
      });
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(isAnswered).toBe(false);
      await appendLog(logged.id, 'plan', 0, Buffer.from('\u0002one'));
      expect((await first).bytes.toString()).toBe('\u0002one');
      const last = from(4);
      await become('canceled');
      expect(await last).toMatchObject({ status: 200, bytes: Buffer.alloc(0) });
      expect(await from(4)).toMatchObject({ status: 200, bytes: Buffer.alloc(0) });
      process.env.LOG_WAIT_MS = '100';
      await become('running');
      expect(await from(4)).toMatchObject({ status: 200, bytes: Buffer.alloc(0) });
    });
  });

  it('respond with 200 and an empty body when there is nothing new', async () => {
    for (const query of ['?limit=10&offset=1000', '?limit=65536&offset=999999999999']) {
      expect(await get(`${url}${query}`)).toMatchObject({ status: 200, bytes: Buffer.alloc(0) });
    }
    for (const query of ['', '?limit=-1&offset=x', '?limit=0', '?offset=1e3']) {
      expect((await get(`${url}${query}`)).status).toBe(200);
    }
  });

  it('have a size once they are stored, and long pieces are compressed for readers who accept it', async () => {
    const { putObject } = await import('#platform/store/bucket.ts');
    const { objects } = await import('#platform/store/keys.ts');
    const stored = await fresh();
    const path = logPath(stored, 'plan');
    const whole = Buffer.from(`\u0002${'a line\n'.repeat(20_000)}\u0003`);
    await putObject(objects.artifact(stored.id, 'plan', 'log'), new Uint8Array(whole));
    await store.updateRun(stored.id, { set: { 'plan.status': 'running' } });
    expect((await get(path)).headers).not.toHaveProperty('x-log-size');
    await store.updateRun(stored.id, { set: { 'plan.status': 'finished', 'plan.report': report(['log']) } });
    const gzip = { 'accept-encoding': 'gzip, br' };
    const last = await get(`${path}?limit=100000&offset=${whole.length - 100_000}`, gzip);
    expect(last.headers).toMatchObject({ 'x-log-size': String(whole.length), 'content-encoding': 'gzip' });
    expect(gunzipSync(last.bytes).equals(whole.subarray(-100_000))).toBe(true);
    for (const [query, sent] of [
      ['?limit=65536', gzip],
      ['?limit=100000', { 'accept-encoding': 'gzip;q=0' }],
    ] as const) {
      const plain = await get(`${path}${query}`, sent);
      expect(plain.headers).not.toHaveProperty('content-encoding');
      expect(plain.bytes.equals(whole.subarray(0, plain.bytes.length))).toBe(true);
    }
  });

  it('have the size so far with a long part of a growing log, before its end', async () => {
    const { appendLog } = await import('#resources/runs/logs.ts');
    const growing = await fresh();
    const path = logPath(growing, 'plan');
    const piece = Buffer.from(`\u0002${'a line\n'.repeat(9000)}`);
    for (const at of [0, 1, 2]) await appendLog(growing.id, 'plan', at * piece.length, piece);
    await store.updateRun(growing.id, { set: { 'plan.status': 'running' } });
    const size = 3 * piece.length;
    const sizeOf = async (query: string) => (await get(`${path}${query}`)).headers?.['x-log-size'];
    expect(await sizeOf('?limit=100000')).toBe(String(size));
    expect(await sizeOf(`?limit=100000&offset=${size - 100_000}`)).toBe(String(size));
    expect(await sizeOf(`?limit=100000&offset=${size - 99_999}`)).toBeUndefined();
    // Terraform's own requests.
    expect(await sizeOf('?limit=65536')).toBeUndefined();
  });

  it('are 404 for another secret, run, phase or path', async () => {
    const [, , id, , secret = ''] = url.split('/');
    for (const path of [
      `/logs/${id}/plan/${altered(secret)}`,
      `/logs/${id}/plan/${secret}x`,
      `/logs/${id}/plan/`,
      `/logs/${id}/destroy/${secret}`,
      `/logs/run-aaaaaaaaaaaaaaaa/plan/${secret}`,
      '/logs/',
      '/logs/a/b/c/d',
    ]) {
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    }
  });

  it('answer 200 with an empty body on internal errors, or clients would give up', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {});
    api.aws.failCall(1, 'before');
    expect(await get(url)).toMatchObject({ status: 200, bytes: Buffer.alloc(0) });
    expect(error).toHaveBeenCalled();
    error.mockRestore();
  });
});
