/** Exit codes of `stepform`, for scripts and CI. Their meaning is stable; new ones may be added. */
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
  differs: 15,
  timedOut: 124,
  interrupted: 130,
} as const;
export type ExitCode = (typeof exit)[keyof typeof exit];

export const exitMeanings: [ExitCode, string][] = [
  [exit.done, 'success; for a watched run: applied, or planned and finished'],
  [exit.failed, 'failure: the server is unreachable, or returned an error'],
  [exit.usage, 'usage error: an unknown option, a missing argument, no workspace given'],
  [exit.notAllowed, 'not signed in, or permission denied'],
  [exit.notFound, 'not found: the workspace, run or state does not exist, or you don’t have access'],
  [
    exit.notNow,
    'refused: a value is not valid, the resource has changed, the workspace is locked, or the run has finished',
  ],
  [exit.errored, 'the watched run errored'],
  [exit.policyFailed, 'the watched run failed a policy'],
  [exit.discarded, 'the watched run was discarded'],
  [exit.canceled, 'the watched run was canceled'],
  [
    exit.needsPerson,
    'the watched run, or the run ahead of it, waits for a confirmation or an override; or its workspace is locked',
  ],
  [exit.differs, 'the verified deployment works, but differs from its documentation'],
  [exit.timedOut, 'the watched run did not finish within --timeout; it continues'],
  [exit.interrupted, 'interrupted; the run is not canceled'],
];

/** An error for the user of the command. */
export class CommandError extends Error {
  override name = 'CommandError';
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = exit.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** An error in the command as typed. */
export const wrongUsage = (message: string): CommandError => new CommandError(message, exit.usage);
