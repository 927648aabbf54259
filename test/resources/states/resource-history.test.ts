import { describe, expect, it } from 'vitest';
import { parseState, type StateInstance } from '#resources/states/content.ts';
import { withHistory } from '#resources/states/resource-history.ts';
import type { StateVersion } from '#resources/states/state-version.ts';

const stateOf = (values: Record<string, unknown>): StateInstance[] => {
  const resources = Object.entries(values).map(([name, input]) => ({
    mode: 'managed',
    type: 'a',
    name,
    provider: 'provider["registry.terraform.io/x/a"]',
    instances: [{ attributes: { input }, dependencies: ['a.base'] }],
  }));
  return parseState(Buffer.from(JSON.stringify({ version: 4, serial: 1, lineage: 'l', resources }))).instances ?? [];
};

/** Applies the states one after the other. */
const history = (...states: [id: string, runId: string | undefined, values: Record<string, unknown>][]) =>
  states.reduce<StateInstance[]>((before, [id, runId, values]) => {
    const version = { id, runId, createdAt: `at ${id}` } as StateVersion;
    return withHistory(stateOf(values), new Map(before.map((one) => [one.address, one])), version);
  }, []);

const told = (instances: StateInstance[]) =>
  Object.fromEntries(
    instances.map(({ name, createdAt, changes }) => [
      name,
      [createdAt, ...(changes ?? []).map(({ version, run }) => `${version} ${run}`)],
    ]),
  );

describe('the history of a resource', () => {
  it('has the versions that changed it, newest first, and not the others', () => {
    const last = history(
      ['sv-1', 'run-1', { x: 1, y: 1 }],
      ['sv-2', 'run-2', { x: 2, y: 1 }],
      ['sv-3', undefined, { x: 2, y: 3 }],
    );
    expect(told(last)).toEqual({
      x: ['at sv-1', 'sv-2 run-2', 'sv-1 run-1'],
      y: ['at sv-1', 'sv-3 undefined', 'sv-1 run-1'],
    });
    expect(last[0]?.dependencies).toEqual(['a.base']);
  });

  it('counts the states of one run as one change, and keeps the last five', () => {
    expect(told(history(['sv-1', 'run-1', { x: 1 }], ['sv-2', 'run-1', { x: 2 }]))).toEqual({
      x: ['at sv-1', 'sv-2 run-1'],
    });
    const many = Array.from({ length: 9 }, (_, n): [string, string, object] => [`sv-${n}`, `run-${n}`, { x: n }]);
    expect(history(...(many as Parameters<typeof history>))[0]?.changes?.map(({ version }) => version)).toEqual([
      'sv-8',
      'sv-7',
      'sv-6',
      'sv-5',
      'sv-4',
    ]);
  });

  it('restarts for recreated resources, and is empty for older changes', () => {
    const again = history(['sv-1', 'run-1', { x: 1 }], ['sv-2', 'run-2', {}], ['sv-3', 'run-3', { x: 1 }]);
    expect(told(again)).toEqual({ x: ['at sv-3', 'sv-3 run-3'] });
    const [old] = stateOf({ x: 1 });
    const { digest: _, ...before } = old as StateInstance;
    const version = { id: 'sv-2', createdAt: 'now' } as StateVersion;
    expect(withHistory(stateOf({ x: 2 }), new Map([[before.address, before]]), version)[0]).toMatchObject({
      changes: [],
    });
  });
});
