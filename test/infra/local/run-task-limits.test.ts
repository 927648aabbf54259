import { expect, it } from 'vitest';
import { withRunTaskSeconds } from '#infra/local/aws/step-functions/run-task-limits.ts';
import { synthesizedMachine } from '#test/infra/template.ts';

type Limits = Record<string, unknown[]>;

/** Heartbeat and time limit of each state, by its path in the machine. */
const limitsIn = (value: unknown, path = ''): Limits => {
  if (value === null || typeof value !== 'object') return {};
  const { HeartbeatSeconds, TimeoutSeconds } = value as Record<string, unknown>;
  const own = HeartbeatSeconds || TimeoutSeconds ? { [path]: [HeartbeatSeconds, TimeoutSeconds] } : {};
  return Object.assign(own, ...Object.entries(value).map(([name, part]) => limitsIn(part, `${path}/${name}`)));
};

it('the time limits of run tasks, and no others, are shortened', () => {
  const machine = synthesizedMachine() as object;
  const [before, after] = [limitsIn(machine), limitsIn(withRunTaskSeconds(machine, 20))];
  const changed = Object.keys(before).filter((path) => String(before[path]) !== String(after[path]));
  expect(changed.map((path) => path.split('/').at(-1)).sort()).toEqual([
    'PostApplyTask',
    'PostPlanTask',
    'PreApplyTask',
    'PrePlanTask',
  ]);
  for (const path of changed)
    expect([before[path], after[path]]).toEqual([
      [600, 3600],
      [20, 120],
    ]);
});
