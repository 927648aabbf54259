import { describe, expect, it } from 'vitest';
import { selects, type TagSelector } from '#resources/policies/select-by-tags.ts';
import { detailOf, startApi, uniqueName } from '#test/support/api.ts';

const api = await startApi();
const policySetsOf = (await import('#resources/policies/set-records.ts')).policySetsOf;

const selector = (key: string, value: string | null = null, exclude = false) => ({
  'tag-key': key,
  'tag-value': value,
  'is-exclude': exclude,
});
const newSet = (attributes: object = {}, relationships: object = {}) =>
  api.post('organizations/acme/policy-sets', { name: uniqueName('set'), kind: 'opa', ...attributes }, relationships);
const made = async (...selectors: object[]) => (await newSet({ 'tag-selectors': selectors })).body.data;
const read = async (id: string) => (await api.get(`policy-sets/${id}`)).body.data.attributes;
const selectors = (method: string, id: string, ...data: object[]) =>
  api.call(method, `policy-sets/${id}/tag-selectors`, { body: { data } });
const binding = (key: string, value: string) => ({ type: 'tag-bindings', attributes: { key, value } });
const applying = async (id: string, workspaceId: string) => {
  const { getWorkspace } = await import('#resources/workspaces/records.ts');
  const workspace = await getWorkspace(workspaceId);
  return workspace ? (await policySetsOf(workspace)).some((set) => set.id === id) : undefined;
};
const tagged = async (tags: object[], projectId?: string) => {
  const relations = {
    'tag-bindings': { data: tags },
    ...(projectId ? { project: { data: { type: 'projects', id: projectId } } } : {}),
  };
  return (await api.post('organizations/acme/workspaces', { name: uniqueName('w') }, relations)).body.data.id as string;
};

describe('selectors', () => {
  const plain: TagSelector = { key: 'env', value: null };
  const prod: TagSelector = { key: 'env', value: 'prod' };
  const legacy: TagSelector = { key: 'legacy', value: null, excludes: true };
  it.each<[TagSelector[], string[], boolean]>([
    [[prod], ['env=prod'], true],
    [[prod], ['env=dev'], false],
    [[prod], [], false],
    [[plain], ['env='], true],
    [[plain], ['env=dev'], false],
    [[plain, legacy], ['env=', 'legacy='], false],
    [[legacy], ['legacy=yes'], true],
    [[legacy], [], true],
    [[legacy], ['legacy='], false],
    [[{ key: 'team', value: 'a' }, prod], ['env=prod'], true],
  ])('%j of %j: %s', (all, tags, chosen) => {
    const list = tags.map((tag) => ({ key: tag.split('=')[0] ?? '', value: tag.split('=')[1] ?? '' }));
    expect(selects(all, list)).toBe(chosen);
  });
});

it('selectors apply the set to workspaces by their tags and, with lower precedence, those of their project', async () => {
  const set = await made(selector('env', 'prod'));
  expect(set.attributes).toMatchObject({ 'tag-selectors': [selector('env', 'prod')], 'scoping-type': 'tag' });
  const relations = { 'tag-bindings': { data: [binding('env', 'prod')] } };
  const project = (await api.post('organizations/acme/projects', { name: uniqueName('p') }, relations)).body.data.id;
  const [own, inherited, overridden, other] = [
    await tagged([binding('env', 'prod')]),
    await tagged([], project),
    await tagged([binding('env', 'dev')], project),
    await tagged([]),
  ];
  expect(await Promise.all([own, inherited, overridden, other].map((id) => applying(set.id, id)))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

it('a policy set lists the keys of its selectors that workspaces can change', async () => {
  const [open, overridable, reserved] = [uniqueName('open'), uniqueName('overridable'), uniqueName('reserved')];
  for (const [key, disables] of [
    [overridable, false],
    [reserved, true],
  ])
    await api.post('organizations/acme/reserved-tag-keys', { key, 'disable-overrides': disables });
  const set = await made(selector(open), selector(open, 'x'), selector(reserved), selector(overridable, 'y', true));
  expect(set.attributes['unreserved-tag-keys']).toEqual([open, overridable]);
  expect((await read(set.id))['unreserved-tag-keys']).toEqual([open, overridable]);
  expect(await read((await newSet()).body.data.id)).not.toHaveProperty('unreserved-tag-keys');
});

it('selectors are added and removed by key and value; a set without any applies to no workspace', async () => {
  const { id } = (await newSet()).body.data;
  const workspace = await tagged([binding('env', 'prod')]);
  expect((await selectors('POST', id, selector('env', 'prod'), selector('old', null, true))).status).toBe(204);
  expect((await selectors('POST', id, selector('env', 'prod'))).status).toBe(204);
  expect((await read(id))['tag-selectors']).toHaveLength(2);
  expect(await applying(id, workspace)).toBe(true);
  expect((await selectors('DELETE', id, selector('env', 'prod'), selector('old', null, true))).status).toBe(204);
  expect(await read(id)).toMatchObject({ 'tag-selectors': [], 'scoping-type': 'explicit' });
  expect(await applying(id, workspace)).toBe(false);
});

it('selectors that are added concurrently are all kept', async () => {
  const { id } = (await newSet()).body.data;
  const keys = ['a', 'b', 'c', 'd'];
  const answers = await Promise.all(keys.map((key) => selectors('POST', id, selector(key))));
  expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204]);
  expect((await read(id))['tag-selectors']).toHaveLength(4);
});

it('selectors except workspaces from a global set, and cannot include any there', async () => {
  const { id } = (await newSet({ global: true })).body.data;
  const [plain, production] = [await tagged([]), await tagged([binding('env', 'prod')])];
  expect((await selectors('POST', id, selector('env', 'prod', true))).status).toBe(204);
  expect([await applying(id, plain), await applying(id, production)]).toEqual([true, false]);
  const refused = await selectors('POST', id, selector('env', 'test'));
  expect(detailOf(refused)).toEqual([422, expect.stringContaining('can only exclude')]);
  expect((await selectors('DELETE', id, selector('env', 'prod', true))).status).toBe(204);
  expect(await applying(id, production)).toBe(true);
});

it('selectors exclude workspaces and projects that the set lists', async () => {
  const { id: workspace } = await api.workspace();
  const workspaces = { data: [{ type: 'workspaces', id: workspace }] };
  expect((await newSet({ global: true, 'tag-selectors': [selector('a')] })).status).toBe(422);
  expect((await newSet({ 'tag-selectors': [selector('a')] }, { workspaces })).status).toBe(422);
  const byTags = await made(selector('a'));
  expect((await api.patch(`policy-sets/${byTags.id}`, { global: true })).status).toBe(422);
  const related = await api.call('POST', `policy-sets/${byTags.id}/relationships/workspaces`, { body: workspaces });
  expect(detailOf(related)).toEqual([422, expect.stringContaining('tag-selectors')]);
  const global = (await newSet({ global: true })).body.data;
  expect((await selectors('POST', global.id, selector('a'))).status).toBe(422);
});

it('invalid selectors are rejected, and the error names the field', async () => {
  for (const wrong of [
    { 'tag-value': 'a' },
    { ...selector('a'), more: 1 },
    selector('a b\n'),
    selector('a', 'x'.repeat(300)),
  ]) {
    const { status, body } = await newSet({ 'tag-selectors': [wrong] });
    expect([status, body.errors[0].source.pointer]).toEqual([
      422,
      expect.stringContaining('/data/attributes/tag-selectors'),
    ]);
  }
});
