import { expect, it } from 'vitest';
import { asEdit } from '#platform/store/edits.ts';

it('edits of one user in the same millisecond are distinguished', () => {
  const edit = () => asEdit({ set: { name: 'x' } }, { userId: 'user-1', edits: 1 });
  const repeated = (change: object) => JSON.stringify({ ...change, set: undefined, condition: undefined });
  const edits = Array.from({ length: 50 }, () => repeated(edit()));
  expect(new Set(edits).size).toBe(edits.length);
});
