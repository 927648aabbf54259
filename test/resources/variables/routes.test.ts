import { describe, expect, it } from 'vitest';
import { pointerOf, startApi } from '#test/support/api.ts';

const api = await startApi();
const base = `workspaces/${(await api.workspace()).id}/vars`;

const create = async (attributes: object) => {
  const answer = await api.post(base, { category: 'terraform', ...attributes });
  expect(answer.body.errors).toBeUndefined();
  expect(answer.status).toBe(201);
  return answer.body.data;
};

describe('a variable', () => {
  it('is returned as written', async () => {
    const variable = await create({ key: 'regions', value: '["a", "b"]', hcl: true, description: 'where' });
    expect(variable).toMatchObject({
      id: expect.stringMatching(/^var-/),
      type: 'vars',
      attributes: {
        key: 'regions',
        value: '["a", "b"]',
        hcl: true,
        sensitive: false,
        category: 'terraform',
        description: 'where',
      },
      relationships: { configurable: { data: { type: 'workspaces' } } },
    });
    expect((await api.get(`${base}/${variable.id}`)).body.data).toEqual(variable);
    const changed = await api.patch(`${base}/${variable.id}`, { value: '[]' });
    expect(changed.body.data.attributes).toMatchObject({ value: '[]', hcl: true, description: 'where' });
    expect(changed.body.data.attributes['version-id']).not.toBe(variable.attributes['version-id']);
    expect((await api.call('DELETE', `${base}/${variable.id}`)).status).toBe(204);
    expect((await api.get(`${base}/${variable.id}`)).status).toBe(404);
    await create({ key: 'regions' });
  });

  it('that is sensitive is never returned', async () => {
    const variable = await create({ key: 'password', value: 'hunter2', sensitive: true });
    const changed = await api.patch(`${base}/${variable.id}`, { value: 'hunter3' });
    const texts = [variable, changed.body, (await api.get(base)).body, (await api.get(`${base}/${variable.id}`)).body];
    for (const text of texts) expect(JSON.stringify(text)).not.toContain('hunter');
    expect(changed.body.data.attributes.value).toBeNull();
  });

  it('cannot point Terraform to another state through its arguments', async () => {
    const values = { key: 'TF_CLI_ARGS_apply', value: '-parallelism=3', category: 'env' };
    const variable = await create(values);
    const refused = { value: '-parallelism=3 -state-out=/tmp/elsewhere' };
    for (const answer of [
      await api.patch(`${base}/${variable.id}`, refused),
      await api.post(base, { ...values, ...refused, key: 'TF_CLI_ARGS' }),
    ]) {
      expect(answer.status).toBe(422);
      expect(answer.body.errors[0]).toMatchObject({
        detail: expect.stringMatching(/^value: -state-out cannot be set with TF_CLI_ARGS/),
        source: { pointer: '/data/attributes/value' },
      });
    }
  });

  it('that is sensitive stays sensitive', async () => {
    const variable = await create({ key: 'secret', value: 'x', sensitive: true });
    for (const [field, value] of Object.entries({ sensitive: false, key: 'other' })) {
      const answer = await api.patch(`${base}/${variable.id}`, { [field]: value });
      expect([field, answer.status]).toEqual([field, 422]);
      expect(answer.body.errors[0].source.pointer).toBe(`/data/attributes/${field}`);
    }
  });

  it('has a unique key per category, also after a change', async () => {
    const variable = await create({ key: 'twice' });
    const again = await api.post(base, { key: 'twice', category: 'terraform' });
    expect(again.status).toBe(422);
    expect(again.body.errors[0]).toMatchObject({
      detail: 'Key has already been taken',
      source: { pointer: '/data/attributes/key' },
    });
    await create({ key: 'twice', category: 'env' });
    const other = await create({ key: 'thrice' });
    expect((await api.patch(`${base}/${other.id}`, { key: 'twice' })).status).toBe(422);
    expect((await api.patch(`${base}/${variable.id}`, { key: 'once' })).status).toBe(200);
    expect((await api.patch(`${base}/${other.id}`, { key: 'twice' })).status).toBe(200);
  });

  it.each([
    ['no key', {}, 'key', /missing/],
    ['an empty key', { key: '' }, 'key', /empty/],
    ['a long key', { key: 'x'.repeat(129) }, 'key', /128 characters/],
    ['a key that is no identifier', { key: 'a b' }, 'key', /letters, digits/],
    ['a key that begins with a hyphen', { key: '-a' }, 'key', /begin with "-"/],
    ['an environment key with =', { key: 'a=b', category: 'env' }, 'key', /A-Z/],
    ['an unknown category', { key: 'a', category: 'shell' }, 'category', /"terraform", "env"/],
    ['a value that is no text', { key: 'a', value: 5 }, 'value', /a string/],
    ['a value over 256 KB', { key: 'a', value: 'ä'.repeat(131_073) }, 'value', /256 KB/],
    [
      'HCL in the environment',
      { key: 'a', category: 'env', hcl: true },
      'hcl',
      /cannot be true for environment variables/,
    ],
  ])('is rejected with %s', async (_, attributes, field, reason) => {
    const answer = await api.post(base, { category: 'terraform', ...attributes });
    expect(pointerOf(answer)).toEqual([422, `/data/attributes/${field}`]);
    expect(answer.body.errors[0].detail).toMatch(reason);
  });

  it.each(['terraform', 'env'])('of category %s may have a key that begins with a digit', async (category) => {
    expect((await create({ key: `4a-${category}`, category })).attributes.key).toBe(`4a-${category}`);
  });

  it('is related to its workspace', async () => {
    const { id } = await create({ key: 'related' });
    const { relationships } = (await api.get(base.replace(/\/vars$/, ''))).body.data;
    expect(relationships.vars.data).toContainEqual({ type: 'vars', id });
  });

  it('may be as large as 256 KB, and have a Unicode name in Terraform', async () => {
    const variable = await create({ key: 'größe', value: 'x'.repeat(256 * 1024) });
    expect((await api.get(`${base}/${variable.id}`)).body.data.attributes.value).toHaveLength(256 * 1024);
  });

  it('belongs to its workspace only', async () => {
    const variable = await create({ key: 'mine' });
    const other = (await api.workspace()).id;
    expect((await api.get(`workspaces/${other}/vars/${variable.id}`)).status).toBe(404);
    expect((await api.call('DELETE', `workspaces/${other}/vars/${variable.id}`)).status).toBe(404);
  });
});

it('the list has all variables in order of creation, in one page', async () => {
  const own = `workspaces/${(await api.workspace()).id}/vars`;
  for (let i = 0; i < 25; i++) {
    await api.post(own, { key: `v${i}`, category: 'terraform' });
    // Variables created in the same millisecond have no order.
    for (const made = Date.now(); Date.now() === made; ) await new Promise(setImmediate);
  }
  const { body } = await api.get(own);
  expect(body.data.map((one: { attributes: { key: string } }) => one.attributes.key)).toEqual(
    Array.from({ length: 25 }, (_, i) => `v${i}`),
  );
  expect(body.meta.pagination).toMatchObject({ 'total-count': 25, 'total-pages': 1 });
});
