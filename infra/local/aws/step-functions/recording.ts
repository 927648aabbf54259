import type { Line } from './journal.ts';

/** What a journal tells about one lane. */
export interface LaneRecording {
  lines: Line[];
  /** Task attempts ever made, so that the next one is called differently. */
  tasks: number;
}

const endsAttempt =
  /^(Execution(Failed|Aborted|TimedOut)|AttemptFailed|(Map|Parallel)StateFailed|MapIteration(Failed|Aborted)|.*StateAborted)$/;

/** A redriven execution goes on from the states that had been entered and not left, with a fresh attempt. */
const cutForRedrive = (lines: Line[]): Line[] => {
  const entered = lines.findLastIndex(({ type }) => type.endsWith('StateEntered'));
  const left = lines.findLastIndex(({ type }) => type.endsWith('StateExited'));
  if (entered <= left) return lines.slice(0, lines.findLastIndex(({ type }) => !endsAttempt.test(type)) + 1);
  // Branches and items that had succeeded are kept, so the attempt of a Map or Parallel goes on.
  const started = lines.findLastIndex(({ type }) => type === 'MapStateStarted' || type === 'ParallelStateStarted');
  return lines.slice(0, Math.max(entered, started) + 1);
};

/** The lanes of an execution, as far as its last redrive has left them. The execution's own has the name ''. */
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
 * State transitions as AWS bills them: each step that is executed, each retry of it, each redrive (Step Functions
 * pricing; Developer Guide: redrive).
 */
export const isTransition = ({ type, note }: Line): boolean =>
  type.endsWith('StateEntered') || type === 'ExecutionRedriven' || (note?.retry as number) > 0;
