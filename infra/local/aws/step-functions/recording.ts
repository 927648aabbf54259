import type { Line } from './journal.ts';

/** The recorded facts of one lane. */
export interface LaneRecording {
  lines: Line[];
  /** Number of task attempts so far, so that the next one gets a new name. */
  tasks: number;
}

const endsAttempt =
  /^(Execution(Failed|Aborted|TimedOut)|AttemptFailed|MapStateFailed|MapIteration(Failed|Aborted)|.*StateAborted)$/;

/** A redriven execution resumes in the states that were entered and not left, with a new attempt. */
const cutForRedrive = (lines: Line[]): Line[] => {
  const entered = lines.findLastIndex(({ type }) => type.endsWith('StateEntered'));
  const left = lines.findLastIndex(({ type }) => type.endsWith('StateExited'));
  if (entered <= left) return lines.slice(0, lines.findLastIndex(({ type }) => !endsAttempt.test(type)) + 1);
  // Successful items are kept, so the attempt of a Map continues.
  const started = lines.findLastIndex(({ type }) => type === 'MapStateStarted');
  return lines.slice(0, Math.max(entered, started) + 1);
};

/** The lanes of an execution after its last redrive. The execution's own lane has the name ''. */
export const lanesOf = (lines: readonly Line[]): Map<string, LaneRecording> => {
  const lanes = new Map<string, LaneRecording>();
  for (const line of lines) {
    if (line.type === 'ExecutionStarted') continue;
    if (line.type === 'ExecutionRedriven') {
      for (const recording of lanes.values()) recording.lines = cutForRedrive(recording.lines);
      continue;
    }
    const path = line.lane ?? '';
    const recording = lanes.get(path) ?? { lines: [], tasks: 0 };
    lanes.set(path, recording);
    recording.lines.push(line);
    if (line.type === 'TaskScheduled') recording.tasks++;
  }
  return lanes;
};

/**
 * State transitions as AWS bills them: each executed step, each retry, each redrive (Step Functions pricing; Developer
 * Guide: redrive).
 */
export const isTransition = ({ type, note }: Line): boolean =>
  type.endsWith('StateEntered') || type === 'ExecutionRedriven' || (note?.retry as number) > 0;
