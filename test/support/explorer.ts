/**
 * Walks every path of the state machine. At each waiting state it lets happen whatever may happen to a run there, asks
 * `run/` what the execution is told, and follows the machine's own Catch, Choice and Next. A construct it does not
 * know is an error, so nothing is passed over.
 */
import {
  type AfterPlan,
  type CaughtError,
  type Ending,
  endings,
  entries,
  finalPhases,
  passedAtEnd,
  resume,
  type WaitingState,
  waitingStates,
} from '../../functions/run/lifecycle.ts';
import type { Run } from '../../functions/run/run.ts';
import { isFinal, type RunStatus } from '../../functions/run/status.ts';

interface State {
  Type: string;
  Resource?: string;
  Next?: string;
  End?: boolean;
  Default?: string;
  ResultPath?: string | null;
  HeartbeatSeconds?: number;
  Choices?: { Variable: string; StringEquals: string; Next: string }[];
  Catch?: { ErrorEquals: string[]; Next: string; ResultPath: string }[];
}
export interface Machine {
  StartAt: string;
  States: Record<string, State>;
}

export interface Path {
  start: string;
  /** What happened at each waiting state, e.g. `Planning: report finished`. */
  happenings: string[];
  states: string[];
  statuses: RunStatus[];
  ending: Ending;
  run: Run;
}

/** What may happen to a run that waits in a state. Undefined: an error of the platform or of time, not of the run. */
const happenings: Record<WaitingState, Record<string, (run: Run) => Run>> = {
  Pending: {
    'its turn': (run) => ({ ...run, current: true }),
    canceled: (run) => cancel(run),
    discarded: (run) => discard(run),
  },
  PlanQueued: {
    claimed: (run) => ({ ...run, plan: { ...run.plan, claimNonce: 'n' } }),
    canceled: (run) => cancel(run),
    'runner died before its claim': (run) => report(run, 'plan', { outcome: 'errored' }),
  },
  Planning: {
    'changes to apply': (run) => report(run, 'plan', { outcome: 'finished', hasChanges: true }),
    'no changes': (run) => report(run, 'plan', { outcome: 'finished', hasChanges: false }),
    errored: (run) => report(run, 'plan', { outcome: 'errored', message: 'no such variable' }),
    canceled: (run) => report(cancel(run), 'plan', { outcome: 'canceled' }),
    'finished while canceled': (run) => report(cancel(run), 'plan', { outcome: 'finished', hasChanges: true }),
  },
  NeedsConfirmation: {
    confirmed: (run) => confirm(run),
    discarded: (run) => discard(run),
  },
  PlannedAndSaved: {
    confirmed: (run) => confirm(run),
    discarded: (run) => discard(run),
  },
  Confirmed: {
    'its turn': (run) => ({ ...run, current: true }),
    canceled: (run) => cancel(run),
  },
  ApplyQueued: {
    claimed: (run) => ({ ...run, apply: { ...run.apply, claimNonce: 'n' } }),
    canceled: (run) => cancel(run),
    'runner died before its claim': (run) => report(run, 'apply', { outcome: 'errored' }),
  },
  Applying: {
    applied: (run) => report(run, 'apply', { outcome: 'finished' }),
    errored: (run) => report(run, 'apply', { outcome: 'errored', message: 'out of addresses' }),
    canceled: (run) => report(cancel(run), 'apply', { outcome: 'canceled' }),
    'finished while canceled': (run) => report(cancel(run), 'apply', { outcome: 'finished' }),
  },
};

const cancel = (run: Run): Run => ({ ...run, cancel: { by: 'user-1', at: '', forceAvailableAt: '' } });
const confirm = (run: Run): Run => ({
  ...run,
  status: 'confirmed',
  confirmable: false,
  decision: { action: 'apply', by: 'user-1', at: '' },
});
const discard = (run: Run): Run => ({
  ...run,
  confirmable: false,
  decision: { action: 'discard', by: 'user-1', at: '' },
});
const report = (run: Run, phase: 'plan' | 'apply', said: NonNullable<Run['plan']['report']>): Run => ({
  ...run,
  [phase]: { ...run[phase], report: said },
});

const enter = (run: Run, state: WaitingState): Run => {
  const entry = entries[state];
  if (run.status !== entry.status && !entry.from.includes(run.status)) {
    throw new Error(`the machine enters ${state} while the run is ${run.status}; run/ allows ${entry.from.join(', ')}`);
  }
  return {
    ...run,
    status: entry.status,
    confirmable: entry.confirmable,
    wait: { state, token: 't' },
    plan: { ...run.plan, status: entry.plan ?? run.plan.status },
    apply: { ...run.apply, status: entry.apply ?? run.apply.status },
  };
};

type Told = { output: Record<string, unknown> } | { error: CaughtError };

const ways = (state: State, name: WaitingState, run: Run): [string, Run, Told][] => {
  const told = Object.entries(happenings[name]).flatMap(([what, happen]): [string, Run, Told][] => {
    const after = happen(run);
    const answer = resume(after);
    if (!answer) throw new Error(`${name}: nobody resumes the execution after "${what}"`);
    return [[what, after, 'output' in answer ? answer : { error: { Error: answer.error, Cause: answer.cause } }]];
  });
  const errors = ['States.Timeout', ...(state.HeartbeatSeconds ? ['States.HeartbeatTimeout'] : []), 'Lambda.Unknown'];
  return [...told, ...errors.map((name): [string, Run, Told] => [name, run, { error: { Error: name, Cause: '' } }])];
};

const isWaiting = (name: string): name is WaitingState => (waitingStates as readonly string[]).includes(name);

export const explore = (machine: Machine, start: string, first: Run): Path[] => {
  const paths: Path[] = [];
  const walk = (
    name: string,
    run: Run,
    data: { next?: AfterPlan; error?: CaughtError },
    so: Omit<Path, 'ending' | 'run' | 'start'>,
  ) => {
    const state = machine.States[name];
    if (!state) throw new Error(`no state ${name}`);
    const here = { ...so, states: [...so.states, name] };
    if (so.states.includes(name)) throw new Error(`the machine loops: ${here.states.join(' → ')}`);
    if (state.Type === 'Choice') {
      const choice = state.Choices?.find(({ Variable, StringEquals }) => {
        if (Variable !== '$.plan.next') throw new Error(`${name}: unknown variable ${Variable}`);
        return data.next === StringEquals;
      });
      return walk(choice?.Next ?? (state.Default as string), run, data, here);
    }
    if (state.Type !== 'Task') throw new Error(`${name}: unknown type ${state.Type}`);
    if (!isWaiting(name)) {
      if (!(name in endings) || !state.End) throw new Error(`${name} is neither a waiting state nor an ending`);
      const ending = name as Ending;
      const status = endings[ending];
      paths.push({
        start,
        ...here,
        statuses: [...here.statuses, ...passedAtEnd(run, ending), status],
        ending,
        run: {
          ...run,
          status,
          plan: { ...run.plan, status: finalPhases(run, ending).plan },
          apply: { ...run.apply, status: finalPhases(run, ending).apply },
        },
      });
      return;
    }
    const entered = enter(run, name);
    const passed = entries[name].passed.filter((status) => !here.statuses.includes(status));
    const statuses = [...here.statuses, ...(run.status === entered.status ? [] : [...passed, entered.status])];
    for (const [what, after, told] of ways(state, name, entered)) {
      const more = {
        ...here,
        statuses: after.status === entered.status ? statuses : [...statuses, after.status],
        happenings: [...here.happenings, `${name}: ${what}`],
      };
      if ('output' in told) {
        walk(
          state.Next as string,
          after,
          { ...data, ...(state.ResultPath ? (told.output as { next: AfterPlan }) : {}) },
          more,
        );
        continue;
      }
      const caught = state.Catch?.find(
        ({ ErrorEquals }) => ErrorEquals.includes(told.error.Error) || ErrorEquals.includes('States.ALL'),
      );
      if (!caught) throw new Error(`${name}: nobody catches ${told.error.Error}`);
      walk(caught.Next, after, { ...data, error: told.error }, more);
    }
  };
  if (isFinal(first.status)) throw new Error('a run begins unfinished');
  walk(machine.StartAt, first, {}, { happenings: [], states: [], statuses: [first.status] });
  return paths;
};
