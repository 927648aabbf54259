import * as v from 'valibot';
import { maxNamed } from '#run/apply-progress.ts';
import { maxCheckMessage, maxFailedChecks } from '#run/health-record.ts';
import { maxLeft, testVerdicts } from '#run/module-test-record.ts';
import { artifacts, type Counts } from '#run/phase-report.ts';
import { maxEnclosedBytes, maxOpenChanges } from '#run/protocols/runner.ts';

/** What a runner may report (run/protocols/runner.ts: PhaseReport). */

const bytes32 = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{43}$/, 'must be 32 bytes in base64url'));
/** Chosen by a runner that is ready for a phase. */
export const key = bytes32;
export const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const number = v.pipe(v.number(), v.integer(), v.minValue(0));
const count = v.optional(number);
const enclosed = v.pipe(v.string(), v.base64(), v.maxLength(Math.ceil(maxEnclosedBytes / 3) * 4));
const bySteps = v.record(v.pipe(v.string(), v.maxLength(40)), v.number());
const readable = (text: string): string => text.slice(0, 2000);
export const stateIdentity = v.object({
  serial: v.pipe(v.number(), v.integer(), v.minValue(0)),
  lineage: v.pipe(v.string(), v.maxLength(200)),
  md5: v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/)),
});
/** HeartbeatRequest */
export const heartbeat = v.object({
  open: v.optional(
    v.pipe(
      v.array(
        v.object({ address: v.pipe(v.string(), v.maxLength(1000)), since: v.pipe(v.string(), v.isoTimestamp()) }),
      ),
      v.maxLength(maxOpenChanges),
    ),
  ),
});
export const report = v.object({
  key: v.optional(key),
  outcome: v.picklist(['finished', 'errored', 'canceled']),
  message: v.optional(v.pipe(v.string(), v.transform(readable))),
  hasChanges: v.optional(v.boolean()),
  counts: v.optional(
    v.pipe(
      v.object({ additions: number, changes: number, destructions: number, imports: number }),
      v.transform((counts): Partial<Counts> => Object.fromEntries(Object.entries(counts).filter(([, n]) => n > 0))),
    ),
  ),
  generatedConfiguration: v.optional(v.boolean()),
  uncompared: v.optional(v.pipe(v.string(), v.transform(readable))),
  terraformVersion: v.optional(v.pipe(v.string(), v.maxLength(60))),
  // A list, as agents of 0.2.0 send, is refused: its plan would have no artifacts.
  artifacts: v.optional(v.record(v.picklist(artifacts), bytes32)),
  steps: v.optional(v.object({ at: v.pipe(v.string(), v.isoTimestamp()), began: bySteps, took: bySteps })),
  stateVersionId: v.optional(v.pipe(v.string(), v.maxLength(60))),
  stateProblem: v.optional(v.pipe(v.string(), v.transform(readable))),
  unsavedState: v.optional(stateIdentity),
  unrecorded: v.optional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(1000))), v.maxLength(maxNamed))),
  resourcesAfter: count,
  enclosed: v.optional(v.record(v.picklist(artifacts), enclosed)),
  failedChecks: v.optional(
    v.pipe(
      v.array(
        v.object({
          address: v.pipe(v.string(), v.maxLength(maxCheckMessage)),
          message: v.pipe(v.string(), v.maxLength(maxCheckMessage)),
        }),
      ),
      v.maxLength(maxFailedChecks),
    ),
  ),
  tests: v.optional(
    v.object({
      status: v.picklist(testVerdicts),
      passed: number,
      failed: number,
      errored: number,
      skipped: number,
      left: v.optional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(300))), v.maxLength(maxLeft))),
    }),
  ),
  health: v.optional(
    v.object({
      resourcesDrifted: count,
      resourcesUndrifted: count,
      checksPassed: count,
      checksFailed: count,
      checksErrored: count,
      checksUnknown: count,
    }),
  ),
});
