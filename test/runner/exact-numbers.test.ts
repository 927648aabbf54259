import { expect, it } from 'vitest';
import { parseExactly, stringifyExactly } from '../../functions/runner/exact-numbers.ts';
import type { PlanJson } from '../../functions/runner/plan-json.ts';
import { redactPlan } from '../../functions/runner/redact.ts';

it.each([
  '{"a":9007199254740993,"b":[-12345678901234567890,1.5,3],"c":"9007199254740993"}',
  '{"a":0.12345678901234567,"b":123456789.123456789}',
  '{"a":1,"b":"\\u0000number x"}',
])('keeps numbers as they are written: %s', (text) => {
  expect(stringifyExactly(parseExactly(text))).toBe(text);
});

const planWith = (sensitive: boolean): PlanJson =>
  parseExactly(
    `{"format_version":"1.2","output_changes":{"id":{"actions":["update"],"before":9007199254740992,"after":9007199254740993,"before_sensitive":${sensitive},"after_sensitive":${sensitive}}}}`,
  );

it('shows large numbers of a plan unrounded, and hides sensitive ones as numbers that differ', () => {
  const shown = stringifyExactly(redactPlan(planWith(false), { provider_schemas: {} } as never));
  expect(shown).toContain('"before":9007199254740992,"after":9007199254740993');
  const hidden = stringifyExactly(redactPlan(planWith(true), { provider_schemas: {} } as never));
  expect(hidden).not.toContain('90071992547409');
  expect(hidden).toContain('"before":0,"after":1');
});
