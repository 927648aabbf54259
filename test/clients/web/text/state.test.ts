import { describe, expect, it } from 'vitest';
import { rowsOf } from '#clients/client/text/plan-rows.ts';
import { type State, stateDifferences } from '#clients/web/text/state.ts';

const resource = (name: string, instances: object[], more: object = {}) => ({
  mode: 'managed',
  type: 'terraform_data',
  name,
  instances,
  ...more,
});

const before: State = {
  resources: [
    resource('network', [
      { attributes: { input: 'a', secret: 'one' }, sensitive_attributes: [[{ type: 'get_attr', value: 'secret' }]] },
    ]),
    resource('subnet', [
      { index_key: 'a', attributes: { input: 1 } },
      { index_key: 'b', attributes: { input: 2 } },
    ]),
  ],
  outputs: { url: { value: 'http://a' }, password: { value: 'one', sensitive: true } },
};
const after: State = {
  resources: [
    resource('network', [
      { attributes: { input: 'b', secret: 'two' }, sensitive_attributes: [[{ type: 'get_attr', value: 'secret' }]] },
    ]),
    resource('subnet', [{ index_key: 'a', attributes: { input: 1 } }]),
    resource('host', [{ index_key: 0, attributes: {} }], { module: 'module.web', mode: 'data' }),
  ],
  outputs: { url: { value: 'http://a' }, password: { value: 'two', sensitive: true } },
};

describe('two states', () => {
  it('are compared by resource address', () => {
    expect(stateDifferences(before, after).resources.map(({ address, kind }) => [address, kind])).toEqual([
      ['terraform_data.subnet["b"]', 'destroy'],
      ['terraform_data.network', 'update'],
      ['module.web.data.terraform_data.host[0]', 'create'],
      ['terraform_data.subnet["a"]', 'same'],
    ]);
  });

  it('never show sensitive values', () => {
    const { resources, outputs } = stateDifferences(before, after);
    const shown = [...resources, ...outputs].flatMap(rowsOf);
    expect(shown).toContainEqual({
      path: 'secret',
      before: { hidden: 'sensitive' },
      after: { hidden: 'sensitive' },
      forces: false,
    });
    expect(JSON.stringify(shown)).not.toMatch(/one|two/);
    expect(outputs.map(({ address, kind }) => [address, kind])).toEqual([
      ['password', 'update'],
      ['url', 'same'],
    ]);
  });
});
