import { describe, expect, it } from 'vitest';
import { displayStatus } from '#run/display.ts';
import { isFinal, type RunStatus, runStatuses } from '#run/status.ts';

const display = (status: RunStatus, confirmable = false, statusTimestamps: Record<string, string> = {}) =>
  displayStatus({ status, confirmable, statusTimestamps, failedStep: null, hasChanges: true });

describe('the display of a status', () => {
  it('has a name and a tone for every status', () => {
    for (const status of runStatuses) expect(display(status).name, status).toMatch(/^[A-Z]/);
  });

  it.each(['planned', 'cost_estimated', 'policy_checked', 'post_plan_completed'] as const)(
    'is Needs Confirmation for a confirmable run in %s',
    (status) => {
      expect(display(status, true)).toEqual({ name: 'Needs Confirmation', tone: 'attention' });
      expect(display(status).name).not.toBe('Needs Confirmation');
    },
  );

  it('keeps the name of a saved plan and shows that it waits for a decision', () => {
    expect(display('planned_and_saved', true)).toEqual({ name: 'Planned and Saved', tone: 'attention' });
  });

  it('shows whether a run errored in plan or apply', () => {
    const at = '2026-01-01T00:00:00.000Z';
    expect(display('errored', false, { 'planning-at': at }).name).toBe('Plan Errored');
    expect(display('errored', false, { 'planning-at': at, 'apply-queued-at': at }).name).toBe('Apply Errored');
  });

  it('shows which step failed a run whose plan or apply did not fail, and a plan without changes', () => {
    const facts = { confirmable: false, statusTimestamps: {}, failedStep: null, hasChanges: false };
    expect(displayStatus({ ...facts, status: 'errored', failedStep: 'run task scan' }).name).toBe(
      'Plan Errored · run task scan',
    );
    expect(displayStatus({ ...facts, status: 'planned_and_finished' }).name).toBe('Planned and Finished · no changes');
  });

  it('never shows a final run as in progress', () => {
    for (const status of runStatuses.filter(isFinal)) {
      expect(['good', 'bad', 'neutral'], status).toContain(display(status).tone);
    }
  });
});
