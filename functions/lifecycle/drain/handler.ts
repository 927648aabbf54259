import * as v from 'valibot';
import { openRuns } from '#lifecycle/recovery/open-runs.ts';
import { keys } from '#platform/store/keys.ts';
import { create, remove } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { type Drain, getDrain } from '#resources/workspaces/drain.ts';
import type { Run } from '#run/run.ts';
import { statuses } from '#run/status.ts';

/**
 * Drains the platform for an operator: no run is created until it resumes, and this lists those that have not ended.
 * It stops none: runners finish, and users decide about runs that wait for them.
 */

const input = v.variant('action', [
  v.object({
    action: v.literal('start'),
    /** For users whose run is refused. */
    reason: v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(200)),
  }),
  v.object({ action: v.picklist(['status', 'resume']) }),
]);

export interface OpenRun {
  id: string;
  organization: string;
  workspace: string;
  status: Run['status'];
  waitsFor: string;
  createdAt: string;
}

export interface Drained {
  /** Absent: the platform creates runs. */
  drain?: Drain;
  /** Runs that have not ended, oldest first. */
  runs: OpenRun[];
  /** No run is in progress, and none can begin. */
  done: boolean;
}

/** A creation that read the table before the drain has stored its run by then, or its place is void (queue/places.ts). */
const settledMs = 60_000;

const shown = ({ id, organization, workspaceName, status, createdAt }: Run): OpenRun => ({
  id,
  organization,
  workspace: workspaceName,
  status,
  waitsFor: statuses[status].waitsFor,
  createdAt,
});

/** Can be repeated: the first reason stays. @throws {Error} for invalid input */
export const handler = async (event: unknown): Promise<Drained> => {
  const parsed = v.safeParse(input, event);
  if (!parsed.success) {
    throw new Error(
      'Send {"action": "start", "reason": "…"} (1 to 200 characters), {"action": "status"} or {"action": "resume"}.',
    );
  }
  const request = parsed.output;
  if (request.action === 'start') await create({ ...keys.drain, reason: request.reason, since: now() });
  if (request.action === 'resume') await remove(keys.drain);
  const stored = await getDrain();
  const drain = stored && { reason: stored.reason, since: stored.since };
  const runs = (await openRuns()).map(shown).sort((a, b) => a.createdAt.localeCompare(b.createdAt));
  const isSettled = drain !== undefined && Date.now() - Date.parse(drain.since) >= settledMs;
  return { ...(drain ? { drain } : {}), runs, done: isSettled && runs.length === 0 };
};
