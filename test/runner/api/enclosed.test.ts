import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { maxEnclosedBytes } from '#run/protocols/runner.ts';
import { startRunnerApi } from '#test/support/runner-api.ts';

/** Small artifacts that are enclosed in the report of their phase. */

let runner: Awaited<ReturnType<typeof startRunnerApi>>;
beforeAll(async () => {
  runner = await startRunnerApi();
});
afterAll(() => runner.close());

const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url');
const base64 = (text: string) => Buffer.from(text).toString('base64');
const planning = async () => {
  const claimed = await runner.claim('plan');
  await runner.help.bring(claimed.run, { status: 'planning', wait: { state: 'Planning' } });
  return claimed;
};
const report = (token: string, texts: Record<string, string>, checksums: Record<string, string> = {}) => {
  const each = (of: (text: string) => string) =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, of(text)]));
  return runner.call(token, 'report', {
    outcome: 'finished',
    hasChanges: false,
    artifacts: { ...each(sha256), ...checksums },
    enclosed: each(base64),
  });
};
const log = (text: string) => `\u0002${text}\u0003`;
const stored = async (run: string, artifact: string): Promise<string | undefined> => {
  const { getObject } = await import('#platform/store/bucket.ts');
  const { objects } = await import('#platform/store/keys.ts');
  return (await getObject(objects.artifact(run, 'plan', artifact as 'log')))?.toString();
};

it("files enclosed in a report become the run's artifacts, and are not part of its record", async () => {
  const { run, token } = await planning();
  expect((await report(token, { log: log('all of it'), 'plan-json': '{}' })).status).toBe(200);
  expect(await stored(run, 'log')).toBe(log('all of it'));
  expect(await stored(run, 'plan-json')).toBe('{}');
  const record = (await runner.help.store.getRun(run))?.plan.report;
  expect(record?.artifacts).toEqual({ log: sha256(log('all of it')), 'plan-json': sha256('{}') });
  expect(record).not.toHaveProperty('enclosed');
});

it.each([
  ['a list, as agents of another version send', ['plan'], 'artifacts.0: must be one of "plan"'],
  ['an unknown name', { evil: sha256('{}') }, 'artifacts.evil: must be one of "plan"'],
  ['a checksum in hex', { plan: 'a'.repeat(64) }, 'artifacts.plan: must be 32 bytes in base64url'],
])('artifacts that are %s are refused, and nothing is recorded', async (_, artifacts, error) => {
  const { run, token } = await planning();
  const { status, body } = await runner.call(token, 'report', { outcome: 'finished', artifacts });
  expect([status, body.error]).toEqual([422, expect.stringContaining(error)]);
  expect((await runner.help.store.getRun(run))?.plan.report).toBeUndefined();
});

it('enclosed files are stored once: a repeated report changes and adds none', async () => {
  const { run, token } = await planning();
  expect((await report(token, { log: log('first') })).status).toBe(200);
  expect((await report(token, { log: log('second'), 'plan-json': '{"a":1}' })).status).toBe(200);
  expect([await stored(run, 'log'), await stored(run, 'plan-json')]).toEqual([log('first'), undefined]);
});

it('enclosed files do not replace artifacts that the runner has uploaded', async () => {
  const { run, token } = await planning();
  const { body } = await runner.call(token, 'uploads', { artifacts: ['log'] });
  const uploaded = await fetch(body.urls.log, { method: 'PUT', headers: { 'if-none-match': '*' }, body: log('mine') });
  expect(uploaded.status).toBe(200);
  expect((await report(token, { log: log('other') })).status).toBe(200);
  expect(await stored(run, 'log')).toBe(log('mine'));
});

it('a report is rejected if an enclosed file differs from its checksum or is too large', async () => {
  const { run, token } = await planning();
  const other = await report(token, { log: log('a') }, { log: sha256('b') });
  expect([other.status, other.body.error]).toEqual([422, expect.stringContaining('enclosed.log')]);
  const half = 'x'.repeat(maxEnclosedBytes / 2 + 1);
  const large = await report(token, { log: half, 'plan-json': half });
  expect([large.status, large.body.error]).toEqual([422, expect.stringContaining(`${maxEnclosedBytes} bytes`)]);
  const unknown = { outcome: 'finished', enclosed: { log: '{"not": "base64"}' } };
  expect((await runner.call(token, 'report', unknown)).status).toBe(422);
  expect((await runner.help.store.getRun(run))?.plan.report).toBeUndefined();
  expect([await stored(run, 'log'), await stored(run, 'plan-json')]).toEqual([undefined, undefined]);
});
