import { describe, expect, it } from 'vitest';
import { changesAnything, type PlanJson } from '#runner/program/plan-json.ts';

const change = (...actions: string[]) => ({ mode: 'managed', type: 'a', provider_name: 'p', change: { actions } });
const plan = (parts: Partial<PlanJson>): PlanJson => ({ format_version: '1.2', ...parts });

describe('whether a plan changes anything', () => {
  it('is taken from Terraform if present', () => {
    expect(changesAnything(plan({ applyable: true }), false)).toBe(true);
    expect(changesAnything(plan({ applyable: false, resource_changes: [change('create')] }), false)).toBe(false);
  });

  it.each([
    ['nothing', {}, false],
    ['no-op and read', { resource_changes: [change('no-op'), change('read')] }, false],
    ['a creation', { resource_changes: [change('create')] }, true],
    ['a replacement', { resource_changes: [change('delete', 'create')] }, true],
    ['a move', { resource_changes: [{ ...change('no-op'), previous_address: 'a.b' }] }, true],
    ['an import', { resource_changes: [{ ...change('no-op'), change: { actions: ['no-op'], importing: {} } }] }, true],
    ['an output', { output_changes: { o: { actions: ['update'] } } }, true],
    ['an output that stays', { output_changes: { o: { actions: ['no-op'] } } }, false],
    ['drift in a normal plan', { resource_drift: [change('update')] }, false],
  ])('is derived from the changes otherwise: %s', (_, parts, expected) => {
    expect(changesAnything(plan(parts), false)).toBe(expected);
  });

  it('depends on drift in a refresh-only plan', () => {
    expect(changesAnything(plan({ resource_drift: [change('update')] }), true)).toBe(true);
    expect(changesAnything(plan({}), true)).toBe(false);
  });
});
