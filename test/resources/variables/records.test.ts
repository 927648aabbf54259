import { expect, it } from 'vitest';
import { keys, objects } from '#platform/store/keys.ts';
import type { Variable, VariableValues } from '#resources/variables/records.ts';
import { uniqueName } from '#test/support/api.ts';
import { startAws } from '#test/support/aws.ts';
import { startStorage } from '#test/support/storage.ts';

const aws = await startAws();
await startStorage();
const { getObject } = await import('#platform/store/bucket.ts');
const { queryAll } = await import('#platform/store/table.ts');
const inputs = await import('#resources/runs/inputs.ts');
const store = await import('#resources/variables/records.ts');

const values = (change: Partial<VariableValues> = {}): VariableValues => ({
  key: 'region',
  category: 'terraform',
  hcl: false,
  sensitive: false,
  description: null,
  value: 'eu-central-1',
  ...change,
});
const create = async (workspaceId: string, change: Partial<VariableValues> = {}) =>
  (await store.createVariable(workspaceId, values(change))) as Variable;

const home = (id: string) => ({ id, organization: 'acme', projectId: 'prj-1' });

/** All items of a workspace in the table, as text. */
const stored = async (workspaceId: string) =>
  JSON.stringify(await queryAll({ pk: keys.workspace(workspaceId).pk }), (_, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
  );

it('a sensitive value is never stored in plain text, neither in the table nor in an object', async () => {
  const workspaceId = uniqueName('ws');
  await create(workspaceId, { key: 'password', sensitive: true, value: 'correct horse battery' });
  await create(workspaceId, { key: 'plain', value: 'visible here' });
  const text = await stored(workspaceId);
  expect(text).toContain('visible here');
  expect(text).not.toContain('correct horse');
  const key = await inputs.freezeVariables(home(workspaceId), 'run-sealed', []);
  expect(key).toBe(objects.inputs('run-sealed'));
  const frozen = (await getObject(key as string))?.toString();
  expect(frozen).toContain('visible here');
  expect(frozen).not.toContain('correct horse');
});

it('a run has the values from its creation, its own last', async () => {
  const workspaceId = uniqueName('ws');
  const secret = await create(workspaceId, { key: 'TOKEN', category: 'env', sensitive: true, value: 'first' });
  const inputsKey = await inputs.freezeVariables(home(workspaceId), 'run-1', [{ key: 'region', value: '"run"' }]);
  await store.updateVariable(secret, { value: 'second' });
  await store.deleteVariable(secret);
  expect(await inputs.openInputs({ id: 'run-1', workspaceId, inputsKey })).toEqual([
    { key: 'TOKEN', value: 'first', category: 'env', hcl: false, sensitive: true },
    { key: 'region', value: '"run"', category: 'terraform', hcl: true, sensitive: false },
  ]);
});

it('a run cannot open secrets sealed for another workspace', async () => {
  const workspaceId = uniqueName('ws');
  await create(workspaceId, { key: 'password', sensitive: true, value: 'of a neighbour' });
  const inputsKey = await inputs.freezeVariables(home(workspaceId), 'run-theirs', []);
  const mine = { id: 'run-mine', workspaceId: uniqueName('ws'), inputsKey };
  await expect(inputs.openInputs(mine)).rejects.toThrow(`password in run run-mine belongs to workspace ${workspaceId}`);
});

it('a run without variables stores nothing', async () => {
  expect(await inputs.freezeVariables(home(uniqueName('ws')), 'run-none', [])).toBeUndefined();
  expect(await inputs.openInputs({ id: 'run-none', workspaceId: 'ws' })).toEqual([]);
});

it('a variable has a unique key per category', async () => {
  const workspaceId = uniqueName('ws');
  const results = await Promise.all(Array.from({ length: 5 }, () => store.createVariable(workspaceId, values())));
  expect(results.filter(Boolean)).toHaveLength(1);
  expect(await store.createVariable(workspaceId, values({ category: 'env' }))).toBeDefined();
});

it('a renamed or deleted variable frees its old key, and no other key', async () => {
  const workspaceId = uniqueName('ws');
  const [one, two] = [await create(workspaceId, { key: 'one' }), await create(workspaceId, { key: 'two' })];
  expect(await store.updateVariable(one, { key: 'two' })).toBeUndefined();
  const three = (await store.updateVariable(one, { key: 'three' })) as Variable;
  expect(three).toMatchObject({ id: one.id, key: 'three' });
  expect(three.versionId).not.toBe(one.versionId);
  await create(workspaceId, { key: 'one' });
  await store.deleteVariable(two);
  expect(await create(workspaceId, { key: 'two' })).toBeDefined();
});

it('a key whose variable was never written can be used again', async () => {
  const workspaceId = uniqueName('ws');
  aws.failCall(2, 'before');
  await expect(store.createVariable(workspaceId, values())).rejects.toThrow();
  expect(await create(workspaceId)).toBeDefined();
});

it('a variable that becomes sensitive has its value sealed', async () => {
  const workspaceId = uniqueName('ws');
  const variable = await create(workspaceId, { value: 'once visible' });
  const sealed = (await store.updateVariable(variable, { sensitive: true })) as Variable;
  expect(sealed.value).toBeUndefined();
  expect(await stored(workspaceId)).not.toContain('once visible');
  const inputsKey = await inputs.freezeVariables(home(workspaceId), 'run-2', []);
  expect(await inputs.openInputs({ id: 'run-2', workspaceId, inputsKey })).toMatchObject([{ value: 'once visible' }]);
});

it('a variable stays sensitive when a slower request still has the plain value', async () => {
  const workspaceId = uniqueName('ws');
  const original = await create(workspaceId, { value: 'plain' });
  await store.updateVariable(original, { sensitive: true, value: 'a secret' });
  const sensitivities: boolean[] = [];
  const late = await store.updateVariable(original, (variable) => {
    sensitivities.push(variable.sensitive);
    return { description: 'what it is for', sensitive: variable.sensitive };
  });
  expect(sensitivities).toEqual([false, true]);
  expect(late).toMatchObject({ sensitive: true, description: 'what it is for' });
  expect(await stored(workspaceId)).not.toContain('plain');
  const inputsKey = await inputs.freezeVariables(home(workspaceId), 'run-4', []);
  const opened = await inputs.openInputs({ id: 'run-4', workspaceId, inputsKey });
  expect(opened).toMatchObject([{ value: 'a secret', sensitive: true }]);
});

it('a variable stores the largest allowed value, sealed', async () => {
  const workspaceId = uniqueName('ws');
  const value = 'ä'.repeat(store.maxValueBytes / 2);
  await create(workspaceId, { sensitive: true, value });
  const inputsKey = await inputs.freezeVariables(home(workspaceId), 'run-3', []);
  expect((await inputs.openInputs({ id: 'run-3', workspaceId, inputsKey }))[0]?.value).toBe(value);
});
