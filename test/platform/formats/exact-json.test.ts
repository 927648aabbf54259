import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isExactNumber, parseExactly } from '#platform/formats/exact-json.ts';
import { Mask } from '#platform/formats/mask.ts';
import { parseState } from '#resources/states/content.ts';
import type { PlanJson } from '#runner/program/plan-json.ts';
import { redactPlan } from '#runner/program/redact.ts';

const id = '12345678901234567891';
const float = '0.1000000000000000055511151231257827021181583404541015625';

it.each([id, `-${id}`, float, '1e400', '9007199254740993', '0.30000000000000004'])(
  'the exact parser keeps %s unchanged',
  (number) => {
    for (const text of [number, `{"a":${number}}`, `[1, ${number}]`, `{"a":{"b":[ ${number}]}}`])
      expect(JSON.stringify(parseExactly(text.startsWith('-') || /^\d/.test(text) ? `[${text}]` : text))).toContain(
        number,
      );
  },
);

it('the exact parser reads all other JSON as JavaScript does', () => {
  fc.assert(fc.property(fc.json(), (text) => JSON.stringify(parseExactly(text)) === JSON.stringify(JSON.parse(text))));
  expect(parseExactly('{"a":9007199254740991,"b":"x: 12345678901234567891","c":1.5,"d":1e3}')).toEqual({
    a: 9007199254740991,
    b: `x: ${id}`,
    c: 1.5,
    d: 1000,
  });
});

it('outputs of a state are returned as Terraform wrote them', () => {
  const state = `{"version":4,"serial":1,"lineage":"l","outputs":{"a":{"value":${id},"type":"number"},"b":{"value":[${float}],"type":["list","number"]}},
    "resources":[{"mode":"managed","type":"t","name":"n","provider":"p","instances":[{"attributes":{"id":${id}}}]}]}`;
  const { outputs, managed } = parseState(Buffer.from(state));
  expect(outputs.map(({ value }) => JSON.stringify(value))).toEqual([id, `[${float}]`]);
  expect(managed).toBe(1);
});

it('a state comparison shows changes of long numbers, and hides sensitive ones', () => {
  const change = (
    sensitive: boolean,
  ) => `{"mode":"managed","type":"t","provider_name":"p","change":{"actions":["update"],
    "before":{"id":${id},"list":[${id}]},"after":{"id":12345678901234567892,"list":[${id}]},
    "before_sensitive":${sensitive},"after_sensitive":${sensitive}}}`;
  const changeOf = (sensitive: boolean) => {
    const plan = parseExactly(`{"format_version":"1.2","resource_changes":[${change(sensitive)}]}`) as PlanJson;
    const mask = new Mask([]);
    const redacted = redactPlan(plan, { format_version: '1.0' }, (value) => mask.json(value));
    return (redacted.resource_changes as { change: { before: unknown; after: unknown } }[])[0]?.change;
  };
  const shown = changeOf(false);
  expect(JSON.stringify(shown?.before)).toBe(`{"id":${id},"list":[${id}]}`);
  expect(JSON.stringify(shown?.after)).toContain('12345678901234567892');
  expect(JSON.stringify(changeOf(true))).not.toContain('1234567890123456789');
});

it('masking replaces a sensitive number', () => {
  const plan =
    parseExactly(`{"resource_changes":[{"mode":"managed","type":"t","provider_name":"p","change":{"actions":["update"],
    "before":{"id":${id}},"after":{"id":12345678901234567892},"before_sensitive":{"id":true},"after_sensitive":{"id":true}}}]}`);
  const redacted = redactPlan(plan as PlanJson, { format_version: '1.0' }) as {
    resource_changes: { change: object }[];
  };
  expect(redacted.resource_changes[0]?.change).toMatchObject({ before: { id: 0 }, after: { id: 1 } });
});

it('isExactNumber recognizes long numbers', () => {
  const { a, b } = parseExactly(`{"a":${id},"b":1}`) as Record<string, unknown>;
  expect([a, b].map(isExactNumber)).toEqual([true, false]);
});
