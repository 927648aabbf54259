import { describe, expect, it } from 'vitest';
import { endings } from '../../functions/run/lifecycle.ts';
import type { RunStatus } from '../../functions/run/status.ts';
import { isFinal, isPhaseFinal } from '../../functions/run/status.ts';
import { explore, type Machine, type Path } from '../support/explorer.ts';
import { newRun } from '../support/run.ts';
import { synthesizedMachine } from './template.ts';

const machine = synthesizedMachine() as Machine;

const starts = {
  'plan and apply': newRun(),
  'auto-apply': newRun({ autoApply: true }),
  'plan-only': newRun({ planOnly: true }),
  destroy: newRun({ isDestroy: true }),
  'refresh-only': newRun({ refreshOnly: true }),
  'empty apply': newRun({ allowEmptyApply: true }),
  'saved plan': newRun({ savePlan: true, autoApply: true }),
};

/** The documented transitions of a run's status, for the stages that exist. */
const allowed: Partial<Record<RunStatus, RunStatus[]>> = {
  pending: ['plan_queued', 'discarded', 'canceled', 'errored'],
  plan_queued: ['planning', 'canceled', 'errored'],
  planning: ['planned', 'canceled', 'errored'],
  planned_and_saved: ['confirmed', 'discarded', 'errored'],
  planned: ['planned_and_finished', 'planned_and_saved', 'confirmed', 'apply_queued', 'discarded', 'errored'],
  confirmed: ['apply_queued', 'canceled', 'errored'],
  apply_queued: ['applying', 'canceled', 'errored'],
  applying: ['applied', 'canceled', 'errored'],
};

const paths: Path[] = Object.entries(starts).flatMap(([name, run]) => explore(machine, name, run));
const describePath = (path: Path) => `${path.start}: ${path.happenings.join(' → ')}`;

describe('the run state machine', () => {
  it('reaches every state, and every ending, from some start', () => {
    const reached = new Set(paths.flatMap(({ states }) => states));
    expect([...reached].sort()).toEqual(Object.keys(machine.States).sort());
    expect(new Set(paths.map(({ ending }) => ending))).toEqual(new Set(Object.keys(endings)));
    console.log(
      `${paths.length} paths over ${Object.keys(machine.States).length} states from ${Object.keys(starts).length} kinds of run`,
    );
  });

  it('finishes every run exactly once, in a final status, with plan and apply settled', () => {
    for (const path of paths) {
      const finishers = path.states.filter((state) => state in endings);
      expect(finishers, describePath(path)).toEqual([path.ending]);
      expect(isFinal(path.run.status), describePath(path)).toBe(true);
      expect(isPhaseFinal(path.run.plan.status) && isPhaseFinal(path.run.apply.status), describePath(path)).toBe(true);
    }
  });

  it('passes only through documented status transitions', () => {
    for (const path of paths) {
      path.statuses.slice(1).forEach((to, i) => {
        const from = path.statuses[i] as RunStatus;
        expect(allowed[from], `${describePath(path)}: ${path.statuses.join(' → ')}`).toContain(to);
      });
    }
  });

  it('never applies a plan-only run, and never an apply nobody allowed', () => {
    for (const path of paths) {
      const applies = path.states.includes('Applying');
      if (path.start === 'plan-only') expect(applies, describePath(path)).toBe(false);
      if (applies && path.start !== 'auto-apply' && path.start !== 'empty apply') {
        const asked = path.start === 'saved plan' ? 'PlannedAndSaved' : 'NeedsConfirmation';
        expect(path.happenings, describePath(path)).toContain(`${asked}: confirmed`);
      }
    }
  });

  it('takes 8 state transitions for a confirmed run and 7 for an auto-applied one', () => {
    const shortest = (start: string) =>
      paths.find((path) => path.start === start && path.ending === 'Applied')?.states.length;
    expect(shortest('plan and apply')).toBe(8);
    expect(shortest('auto-apply')).toBe(7);
  });

  it('bounds every wait and expects a beat wherever a runner is at work', () => {
    const waits = Object.entries(machine.States).filter(([, { Resource }]) => Resource?.endsWith('waitForTaskToken'));
    expect(waits).toHaveLength(8);
    for (const [name, state] of waits) {
      expect('TimeoutSeconds' in state || 'TimeoutSecondsPath' in state, name).toBe(true);
    }
    expect(machine.States.Planning).toMatchObject({ HeartbeatSeconds: 60 });
    expect(machine.States.Applying).toMatchObject({ HeartbeatSeconds: 60 });
  });
});
