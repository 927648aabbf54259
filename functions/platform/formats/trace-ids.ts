import { createHash } from 'node:crypto';
import type { PhaseName } from '#run/run.ts';
import type { RunStatus } from '#run/status.ts';

/** Ids of a run's trace (W3C Trace Context), derived from the run's id, so that every function knows them. */

const hash = (text: string, bytes: number): string =>
  createHash('sha256')
    .update(text)
    .digest('hex')
    .slice(0, 2 * bytes);

/** `printf %s run-… | sha256sum | cut -c 1-32` */
export const traceIdOf = (runId: string): string => hash(runId, 16);

/** Unique within the trace, and the same each time the trace is sent. @param key the span's name within its run */
export const spanIdOf = (runId: string, key: string): string => hash(`${runId} ${key}`, 8);

/** The key of the span that contains all others. */
export const rootSpan = 'run';
/** The key of a status's span. */
export const statusSpan = (status: RunStatus): string => `status ${status}`;

/** The key of the span below which a phase's steps are. */
export const phaseSpan = (phase: PhaseName): string => statusSpan(phase === 'plan' ? 'planning' : 'applying');

/** For programs that a run starts, whose own spans belong below its phase; sampled. */
export const traceparentOf = (runId: string, key: string): string =>
  `00-${traceIdOf(runId)}-${spanIdOf(runId, key)}-01`;
