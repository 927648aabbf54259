/** What `stepform` ends with, for scripts and CI. Numbers keep their meaning; new ones may come. */
export const exit = {
  done: 0,
  failed: 1,
  usage: 2,
  notAllowed: 3,
  notFound: 4,
  notNow: 5,
  errored: 10,
  policyFailed: 11,
  discarded: 12,
  canceled: 13,
  needsPerson: 14,
  interrupted: 130,
} as const;
export type ExitCode = (typeof exit)[keyof typeof exit];

export const exitMeanings: [ExitCode, string][] = [
  [exit.done, 'done; of a watched run: applied, or planned and nothing left to do'],
  [exit.failed, 'something failed: the platform did not answer, or not as expected'],
  [exit.usage, 'the command itself: an unknown option, a missing argument, no workspace named'],
  [exit.notAllowed, 'not signed in, or not permitted'],
  [exit.notFound, 'no such workspace, run, state, …, or not yours to see'],
  [exit.notNow, 'not possible now: somebody was faster, the workspace is locked, the run is over'],
  [exit.errored, 'the watched run errored'],
  [exit.policyFailed, 'the watched run ended because a policy failed'],
  [exit.discarded, 'the watched run was discarded'],
  [exit.canceled, 'the watched run was canceled'],
  [exit.needsPerson, 'the watched run waits for a person: a confirmation, an override'],
  [exit.interrupted, 'interrupted; the run goes on'],
];

/** Something to tell whoever typed the command. */
export class CommandError extends Error {
  override name = 'CommandError';
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = exit.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The command is not one that can be run as it was typed. */
export const wrongUsage = (message: string): CommandError => new CommandError(message, exit.usage);
