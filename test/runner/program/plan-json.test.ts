import { describe, expect, it } from 'vitest';
import { type Change, countChanges, type PlanJson } from '#runner/program/plan-json.ts';
import { redactPlan } from '#runner/program/redact.ts';

const resource = (change: Change, mode = 'managed', type = 'terraform_data') => ({
  mode,
  type,
  provider_name: 'p',
  change,
});
const plan = (...changes: ReturnType<typeof resource>[]): PlanJson => ({
  format_version: '1.2',
  resource_changes: changes,
});

describe('counts', () => {
  it('are those of Terraform’s summary line', () => {
    const counted = countChanges(
      plan(
        resource({ actions: ['create'] }),
        resource({ actions: ['update'] }),
        resource({ actions: ['delete'] }),
        resource({ actions: ['delete', 'create'] }),
        resource({ actions: ['create', 'delete'] }),
        resource({ actions: ['no-op'], importing: { id: 'x' } }),
        resource({ actions: ['forget'] }),
        resource({ actions: ['no-op'] }),
        resource({ actions: ['read'] }, 'data'),
      ),
    );
    expect(counted).toEqual({ additions: 3, changes: 1, destructions: 3, imports: 1 });
  });
  it('are zero for a plan without resources', () => {
    expect(countChanges({ format_version: '1.2' })).toMatchObject({ additions: 0, imports: 0 });
  });
});

describe('the redacted plan', () => {
  const schemas = {
    format_version: '1.0',
    provider_schemas: {
      p: {
        provider: { version: 0 },
        resource_schemas: { terraform_data: { version: 0 }, other: { version: 1 } },
        data_source_schemas: { terraform_data: { version: 7 } },
      },
      unused: { resource_schemas: { x: {} } },
    },
  };
  const redacted = (change: Change) => {
    const { resource_changes } = redactPlan(plan(resource(change)), schemas) as {
      resource_changes: { change: Change }[];
    };
    return resource_changes[0]?.change as Change;
  };

  it('has no sensitive value of any type or depth', () => {
    const change = redacted({
      actions: ['update'],
      before: { a: 'old-secret', list: [{ p: 'x1' }, { p: 'x2' }], set: { k: 'deep-secret' }, open: 'shown', n: 5 },
      after: { a: 'new-secret', list: [{ p: 'x1' }, { p: 'x3' }], set: { k: 'other-secret' }, open: 'shown too', n: 7 },
      before_sensitive: { a: true, list: [{}, { p: true }] },
      after_sensitive: { a: true, set: true, n: true },
    });
    expect(JSON.stringify(change)).not.toMatch(/secret"|x2|x3|5|7/);
    expect(change).toMatchObject({
      actions: ['update'],
      before: { open: 'shown', list: [{ p: 'x1' }, {}], n: 0 },
      after: { open: 'shown too', list: [{ p: 'x1' }, {}], n: 1 },
    });
  });

  it('distinguishes changed from unchanged values, by placeholders of the same type', () => {
    const all = { before_sensitive: true, after_sensitive: true };
    const pair = (before: unknown, after: unknown) => {
      const change = redacted({
        actions: ['update'],
        before: { x: before },
        after: { x: after },
        before_sensitive: { x: true },
        after_sensitive: { x: true },
      });
      return [(change.before as { x: unknown }).x, (change.after as { x: unknown }).x];
    };
    for (const [a, b] of [
      ['one', 'two'],
      [1, 2],
      [{ a: 1 }, { a: 2 }],
      [[1], [2]],
      [null, 'x'],
    ] as [unknown, unknown][]) {
      const [before, after] = pair(a, b);
      expect(before).not.toEqual(after);
      expect(Array.isArray(after)).toBe(Array.isArray(b));
      expect(typeof after).toBe(typeof b);
    }
    for (const same of ['one', 1, true, { a: 1 }, [1, 2], null]) {
      const [before, after] = pair(same, same);
      expect(before).toEqual(after);
      expect(typeof before).toBe(typeof same);
    }
    expect(redacted({ actions: ['create'], before: null, after: { x: 'y' }, ...all })).toMatchObject({
      before: null,
      after: {},
    });
  });

  it('covers drift, outputs and deferred changes, and does not modify the original', () => {
    const secret = { actions: ['update'], before: 's1', after: 's2', before_sensitive: true, after_sensitive: true };
    const original: PlanJson = {
      ...plan(resource({ actions: ['no-op'] })),
      resource_drift: [resource(secret)],
      output_changes: { o: secret, open: { actions: ['create'], after: 'seen' } },
      deferred_changes: [{ reason: 'x', resource_change: resource(secret) }],
    };
    const copy = structuredClone(original);
    const text = JSON.stringify(redactPlan(original, schemas));
    expect(text).not.toMatch(/"s1"|"s2"/);
    expect(text).toContain('seen');
    expect(original).toEqual(copy);
  });

  it('includes only the needed schemas', () => {
    const used = redactPlan(plan(resource({ actions: ['create'] }), resource({ actions: ['read'] }, 'data')), schemas);
    expect(used).toMatchObject({ plan_format_version: '1.2', provider_format_version: '1.0' });
    expect(used.provider_schemas).toEqual({
      p: {
        resource_schemas: { terraform_data: { version: 0 } },
        data_source_schemas: { terraform_data: { version: 7 } },
      },
    });
  });
});
