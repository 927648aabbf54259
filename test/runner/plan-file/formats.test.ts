import { expect, it } from 'vitest';
import { parseAddress, providerIn } from '#runner/plan-file/address.ts';
import { difference } from '#runner/plan-file/compare.ts';
import { UnknownPlanFileError } from '#runner/plan-file/errors.ts';
import { readPlan, readPlanFile } from '#runner/plan-file/plan-file.ts';
import { readValue, unknown } from '#runner/plan-file/value.ts';
import { zip } from '../program/zip.ts';

/** Plan files that the Terraform of these tests does not write: those of other versions, and ambiguous ones. */

type Fields = [field: number, value: number | string | Fields | Buffer][];

const varint = (value: number): number[] => (value < 0x80 ? [value] : [(value % 0x80) + 0x80, ...varint(value >> 7)]);
const encode = (fields: Fields): Buffer =>
  Buffer.concat(
    fields.map(([field, value]) => {
      if (typeof value === 'number') return Buffer.from([...varint(field * 8), ...varint(value)]);
      const content = Array.isArray(value) ? encode(value) : Buffer.from(value);
      return Buffer.concat([Buffer.from([...varint(field * 8 + 2), ...varint(content.length)]), content]);
    }),
  );

const version: Fields[number] = [1, 3];
const terraformVersion = (text: string): Fields[number] => [14, text];
const value = (msgpack: string): Fields => [[1, Buffer.from(msgpack, 'hex')]];
const create: Fields = [
  [1, 1],
  [2, value('81a161a162')],
];
const provider = 'provider["registry.terraform.io/hashicorp/null"]';
const json = (change: object = {}) => ({
  resource_changes: [
    {
      address: 'module.m["x"].null_resource.a["k"]',
      module_address: 'module.m["x"]',
      mode: 'managed',
      type: 'null_resource',
      name: 'a',
      index: 'k',
      provider_name: 'registry.terraform.io/hashicorp/null',
      change: { actions: ['create'], before: null, after: { a: 'b' } },
      ...change,
    },
  ],
  planned_values: {
    root_module: {
      child_modules: [
        {
          resources: [
            {
              address: 'module.m["x"].null_resource.a["k"]',
              mode: 'managed',
              type: 'null_resource',
              name: 'a',
              provider_name: 'registry.terraform.io/hashicorp/null',
              values: { a: 'b' },
            },
          ],
        },
      ],
    },
  },
});

/** Addresses in parts, as Terraform wrote them up to 1.0. */
const inParts = (text: string): Buffer =>
  encode([
    version,
    [
      3,
      [
        [1, 'module.m["x"]'],
        [2, 0],
        [3, 'null_resource'],
        [4, 'a'],
        [5, 'k'],
        [8, provider],
        [9, create],
      ],
    ],
    terraformVersion(text),
  ]);

it.each(['0.12.31', '1.0.11'])('plans of Terraform %s, whose addresses are in parts, are compared', (text) => {
  const file = readPlan(inParts(text));
  expect(difference(file, json())).toBeUndefined();
  // Plan files of these versions contain no drift.
  expect(difference(file, { ...json(), resource_drift: [] })).toBeUndefined();
  expect(difference(file, json({ type: 'other' }))).toContain('type');
  expect(difference(file, json({ index: 'l' }))).toContain('index');
});

it('the actions of OpenTofu are compared', () => {
  const changing = (action: number) =>
    readPlan(
      encode([
        version,
        [
          3,
          [
            [13, 'a.b'],
            [8, provider],
            [
              9,
              [
                [1, action],
                [2, value('c0')],
                [2, value('81a161a162')],
              ],
            ],
          ],
        ],
        terraformVersion('1.12.6'),
      ]),
    );
  const shown = (actions: string[]) => ({
    resource_changes: [
      {
        address: 'a.b',
        mode: 'managed',
        type: 'a',
        name: 'b',
        provider_name: 'registry.terraform.io/hashicorp/null',
        change: { actions, after: { a: 'b' } },
      },
    ],
    planned_values: {
      root_module: {
        resources: [
          {
            address: 'a.b',
            mode: 'managed',
            type: 'a',
            name: 'b',
            provider_name: 'registry.terraform.io/hashicorp/null',
            values: { a: 'b' },
          },
        ],
      },
    },
  });
  expect(difference(changing(10), shown(['forget', 'create']))).toBeUndefined();
  expect(difference(changing(9), shown(['create', 'forget']))).toBeUndefined();
  expect(difference(changing(42), shown(['create']))).toContain('an action that is not known (42)');
});

it('invocations of actions are compared', () => {
  const address = 'module.m.action.aws_lambda_invoke.a["x"]';
  const invocation: Fields = [
    [1, address],
    [2, provider],
    [4, value('82a161a162a163d40000')],
  ];
  const file = readPlan(
    encode([version, [30, invocation], [30, invocation], [31, [[2, invocation]]], terraformVersion('1.14.0')]),
  );
  const shown = {
    address,
    type: 'aws_lambda_invoke',
    name: 'a',
    provider_name: 'registry.terraform.io/hashicorp/null',
    config_values: { a: 'b' },
  };
  const later = [{ action_invocation: shown }];
  const compared = (...action_invocations: object[]) =>
    difference(file, { action_invocations, deferred_action_invocations: later });
  expect(compared(shown, shown)).toBeUndefined();
  expect(compared(shown)).toContain(address);
  expect(compared(shown, shown, shown)).toContain(address);
  expect(compared(shown, { ...shown, config_values: { a: 'c' } })).toContain(address);
  expect(compared(shown, { ...shown, provider_name: 'other' })).toContain(address);
  expect(difference(file, { action_invocations: [shown, shown] })).toContain(address);
});

it.each<[what: string, content: Buffer, message: string]>([
  ['a newer format', zip('tfplan', encode([[1, 4]])), 'its format is version 4'],
  ['no format', zip('tfplan', Buffer.alloc(0)), 'its format is version 0'],
  ['encryption', Buffer.from('{"meta":{},"encrypted_data":"AAAA"}'), 'OpenTofu has encrypted it'],
  ['no zip archive', Buffer.from('plan'), 'not a zip archive'],
  ['another file', zip('plan', encode([version])), 'not a zip archive with a tfplan'],
  ['damage', zip('tfplan', Buffer.from('1aff', 'hex')), 'it is damaged'],
  ['a change without an address', zip('tfplan', encode([version, [3, [[9, create]]]])), 'incomplete'],
  [
    'an address of another kind',
    zip(
      'tfplan',
      encode([
        version,
        [
          3,
          [
            [13, 'x'],
            [9, create],
          ],
        ],
      ]),
    ),
    'address "x"',
  ],
  [
    'a change in two pieces, which programs merge',
    zip(
      'tfplan',
      encode([
        version,
        [
          3,
          [
            [13, 'a.b'],
            [9, create],
            [9, [[1, 5]]],
          ],
        ],
      ]),
    ),
    'it is damaged',
  ],
  [
    'something behind the archive',
    Buffer.concat([zip('tfplan', encode([version])), Buffer.from('x')]),
    'not a zip archive',
  ],
  [
    'something before the archive',
    Buffer.concat([Buffer.from('x'), zip('tfplan', encode([version]))]),
    'not a zip archive',
  ],
])('a plan file with %s is rejected', async (_, content, message) => {
  const reading = readPlanFile(content);
  await expect(reading).rejects.toThrow(message);
  await expect(reading).rejects.toThrow(UnknownPlanFileError);
});

it('a plan file with more values than any plan has is rejected, regardless of their message', async () => {
  // Each value has two bytes: all of them would need fifty times as much memory.
  const empty = Buffer.alloc(2 * 5_100_000, Buffer.from([0x7a, 0x00]));
  for (const content of [
    Buffer.concat([encode([version]), empty]),
    encode([
      version,
      [
        3,
        [
          [13, 'a.b'],
          [9, empty],
        ],
      ],
    ]),
  ])
    await expect(readPlanFile(zip('tfplan', content))).rejects.toThrow('more than 5000000 values');
});

it.each<[string, ReturnType<typeof parseAddress>]>([
  ['a.b', { module: '', mode: 'managed', type: 'a', name: 'b' }],
  ['data.a.b[0]', { module: '', mode: 'data', type: 'a', name: 'b', index: 0 }],
  ['ephemeral.a.b', { module: '', mode: 'ephemeral', type: 'a', name: 'b' }],
  ['module.m.data.a.b', { module: 'module.m', mode: 'data', type: 'a', name: 'b' }],
  [
    'module.m["a.b[\\"c\\"]"].module.n[1].a.b-c["x"]',
    { module: 'module.m["a.b[\\"c\\"]"].module.n[1]', mode: 'managed', type: 'a', name: 'b-c', index: 'x' },
  ],
  [
    'a.b["$${x} %%{y} $$ \\n\\t\\\\ \\u0007 \\U000e0001"]',
    { module: '', mode: 'managed', type: 'a', name: 'b', index: `\${x} %{y} $$ \n\t\\ \u0007 \u{e0001}` },
  ],
  ['a.b["module.x.c.d"]', { module: '', mode: 'managed', type: 'a', name: 'b', index: 'module.x.c.d' }],
  ['a.b[*]', { module: '', mode: 'managed', type: 'a', name: 'b', index: { unknown: true } }],
  ['a', undefined],
  ['a.b.c', undefined],
  ['a.b["x"', undefined],
  ['', undefined],
])('the address %s is parsed', (text, address) => expect(parseAddress(text)).toEqual(address));

it.each([
  [provider, 'registry.terraform.io/hashicorp/null'],
  [`module.m["x"].${provider}.west`, 'registry.terraform.io/hashicorp/null'],
  ['provider.null', 'null'],
  ['module.m.provider.null.west', 'null'],
])('the provider in %s is found', (text, expected) => expect(providerIn(text)).toBe(expected));

it.each<[string, unknown]>([
  ['c0', null],
  ['92c408227374726d6e6722a178', 'x'],
  ['92a27374a178', ['st', 'x']],
  ['d40000', unknown],
  ['c7020c8000', unknown],
  ['cbbff8000000000000', -1.5],
  ['d3ffffffffffffff80', -128],
  ['cf0020000000000001', 9007199254740992],
])('the value %s is read', (hex, expected) => expect(readValue(Buffer.from(hex, 'hex'))).toEqual(expected));

it.each(['', 'c1', '92c0', 'a3', 'c0c0', '81c0c0', 'dfffffffff', '91'.repeat(300)])(
  'the value %s is rejected',
  (hex) => {
    expect(() => readValue(Buffer.from(hex, 'hex'))).toThrow(UnknownPlanFileError);
  },
);
