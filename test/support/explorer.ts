import type { TaskStage } from '#run/check-record.ts';
import { completed } from '#run/checks.ts';
import { type CaughtError, finalPhases, statusAtEnd } from '#run/ending.ts';
import {
  appliesNext,
  exitOnEntry,
  firstState,
  mayEnter,
  nextStep,
  passesConfirmation,
  resume,
} from '#run/lifecycle.ts';
import {
  aliases,
  type CheckState,
  checkStates,
  type Ending,
  endings,
  entryOf,
  type RunState,
  type TaskState,
  takesQueue,
  taskStates,
  type WaitingState,
  waitingStates,
} from '#run/machine-states.ts';
import type { Run } from '#run/run.ts';
import { isFinal, type RunStatus } from '#run/status.ts';
import { whenTasksAreDone, whileChecking, whileTasksRun, whileWaiting } from './run-events.ts';

/**
 * Walks every path of the state machine. At each state it applies every event that is possible there, gets the
 * execution's result from `run/`, and follows the machine's own Catch, Choice and Next. An unknown construct is an
 * error, so nothing is skipped.
 */

interface State {
  Type: string;
  Resource?: string;
  Parameters?: { Payload: Record<string, unknown> };
  ItemsPath?: string;
  ItemProcessor?: { StartAt: string; States: Record<string, object> };
  Next?: string;
  End?: boolean;
  Default?: string;
  ResultPath?: string | null;
  HeartbeatSeconds?: number;
  Choices?: { Variable: string; StringEquals: string; Next: string }[];
  Catch?: { ErrorEquals: string[]; Next: string; ResultPath: string | null }[];
}
export interface Machine {
  StartAt: string;
  States: Record<string, State>;
}

export interface Path {
  start: string;
  /** The event at each state, e.g. `Planning: report finished`. */
  happenings: string[];
  states: string[];
  statuses: RunStatus[];
  /** Number of times that the finisher ended the run. */
  finished: number;
  ending: Ending;
  /** Errors that were caught on the way. */
  caught: string[];
  run: Run;
}

type So = Pick<Path, 'happenings' | 'states' | 'statuses' | 'caught'>;
type Told = { output?: { next: string } } | { error: CaughtError };
/** An event, the run after it, and the machine's input. */
type Way = [string, Run, Told];
interface Data {
  next?: string;
}

const is =
  <T extends string>(names: readonly T[]) =>
  (name: string): name is T =>
    (names as readonly string[]).includes(name);
const isWaiting = is<WaitingState>(waitingStates);
const isCheck = is<CheckState>(checkStates);
const isEnding = (name: string): name is Ending => name in endings;

const enter = (run: Run, state: RunState): Run => {
  const entry = entryOf(state, run);
  if (!mayEnter(state, run)) throw new Error(`the machine enters ${state}, which run/ does not allow`);
  if (run.status !== entry.status && !entry.from.includes(run.status)) {
    throw new Error(`the machine enters ${state} while the run is ${run.status}; run/ allows ${entry.from.join(', ')}`);
  }
  return {
    ...run,
    status: entry.status,
    wait: { state, token: 't' },
    plan: { ...run.plan, taskId: 'task', status: entry.plan ?? run.plan.status },
    apply: { ...run.apply, status: entry.apply ?? run.apply.status },
  };
};

const failing = (run: Run, names: string[]): Way[] =>
  names.map((name) => [name, run, { error: { Error: name, Cause: '' } }]);

const heard = (name: string, what: string, run: Run): Told => {
  const answer = resume(run);
  if (!answer) throw new Error(`${name}: the execution is not resumed after "${what}"`);
  if ('error' in answer) return { error: { Error: answer.error, Cause: answer.cause } };
  return { output: answer.output as { next: string } };
};

/** The same events, with the apply reserved for the plan's runner, and everything that may follow. */
const reserving = (name: string, told: Way[]): Way[] =>
  told.flatMap(([what, run]): Way[] => {
    if (!appliesNext(run) || !run.plan.ready) return [];
    const { status, plan = run.plan.status, apply = run.apply.status } = entryOf('ApplyQueued', run);
    const claimHash = run.plan.ready.keyHash;
    const reserved = {
      ...run,
      status,
      plan: { ...run.plan, status: plan },
      apply: { ...run.apply, status: apply, claimHash },
    };
    const following: Record<string, Run> = {
      'and its runner claims the apply': { ...reserved, apply: { ...reserved.apply, claimNonce: 'n' } },
      'and its runner stops before its claim': { ...reserved, plan: { ...reserved.plan, ready: undefined } },
      'canceled before the claim': { ...reserved, cancel: { by: 'user-1', at: '', forceAvailableAt: '' } },
    };
    return [
      ...Object.entries(following).map(([more, after]): Way => [`${what}, ${more}`, after, heard(name, more, after)]),
      ...failing(reserved, ['States.HeartbeatTimeout']),
    ];
  });

/** An author may have lost the permission to apply: the run then needs a confirmation, as in recheckAutomaticApply. */
const withdrawing = (told: Way[]): Way[] =>
  told.flatMap(([what, run]): Way[] => {
    if (!passesConfirmation(run)) return [];
    const withdrawn = { ...run, autoApply: false, appliesFor: undefined };
    return [[`${what}, permission withdrawn`, withdrawn, { output: { next: nextStep(withdrawn) } }]];
  });

/** Every way out of a state, with the run on entry. */
const waysOut = (state: State, stateName: string, before: Run): { entered: Run; ways: Way[] } => {
  const name = aliases[stateName as keyof typeof aliases] ?? stateName;
  if (isWaiting(name)) {
    const away = exitOnEntry(name, before);
    if (away && 'error' in away) {
      const held = { ...before, wait: { state: name, token: 't' } };
      return { entered: held, ways: [[away.error, held, heard(name, away.error, held)]] };
    }
    const entered = enter(before, name);
    const told = Object.entries(whileWaiting[name]).map(([what, happen]): Way => {
      const after = happen(entered);
      return [what, after, heard(name, what, after)];
    });
    told.push(...reserving(name, told));
    if (!entered.decision) told.push(...withdrawing(told.filter(([, { apply }]) => !apply.claimHash)));
    const beats = state.HeartbeatSeconds ? ['States.HeartbeatTimeout'] : [];
    return { entered, ways: [...told, ...failing(entered, ['States.Timeout', ...beats, 'Lambda.Unknown'])] };
  }
  if (state.Type === 'Map') {
    const stage = taskStates[name as TaskState];
    if (state.ItemsPath !== `$.taskResults.${stage}`) throw new Error(`${name} goes over ${state.ItemsPath}`);
    const entered = enter(before, name as TaskState);
    const told = Object.entries(whileTasksRun).map(([what, happen]): Way => {
      const after = happen(entered);
      return [what, after, after.cancel ? heard(name, what, after) : {}];
    });
    return { entered, ways: [...told, ...failing(entered, ['Lambda.Unknown'])] };
  }
  const stage = state.Parameters?.Payload.stage as TaskStage | undefined;
  const check = name === 'CostEstimateErrored' ? 'CostEstimating' : name;
  const happenings = stage ? whenTasksAreDone(stage) : isCheck(check) ? whileChecking[check] : undefined;
  if (!happenings) throw new Error(`${name} is no state that is known`);
  const entered = isCheck(check) ? enter(before, check) : before;
  const told = Object.entries(happenings)
    .filter(([what]) => name !== 'CostEstimateErrored' || what === 'errored')
    .map(([what, happen]): Way => {
      const after = happen(entered);
      return [what, after, { output: { next: nextStep(after) } }];
    });
  told.push(...withdrawing(told));
  return { entered, ways: [...told, ...failing(entered, ['Lambda.Unknown'])] };
};

export const explore = (machine: Machine, start: string, first: Run): Path[] => {
  const paths: Path[] = [];

  const end = (ending: Ending, run: Run, so: So) => {
    const status = statusAtEnd(run, ending);
    const phases = finalPhases(run, ending);
    const passed = completedBefore(run, so.statuses);
    paths.push({
      start,
      ...so,
      statuses: [...so.statuses, ...passed, status],
      finished: so.states.filter((name) => name in endings).length,
      ending,
      run: {
        ...run,
        status,
        plan: { ...run.plan, status: phases.plan },
        apply: { ...run.apply, status: phases.apply },
      },
    });
  };

  const follow = (state: State, name: string, [what, after, told]: Way, data: Data, so: So): void => {
    const more = { ...so, happenings: [...so.happenings, `${name}: ${what}`] };
    const keep = (path: string | null | undefined): Data => ({
      next: path === '$.result' && 'output' in told ? told.output?.next : data.next,
    });
    if (!('error' in told)) {
      walk(state.Next as string, after, keep(state.ResultPath), more);
      return;
    }
    const caught = state.Catch?.find(
      ({ ErrorEquals }) => ErrorEquals.includes(told.error.Error) || ErrorEquals.includes('States.ALL'),
    );
    if (!caught) throw new Error(`${name}: no Catch for ${told.error.Error}`);
    walk(caught.Next, after, data, { ...more, caught: [...so.caught, `${name}: ${told.error.Error}`] });
  };

  const walk = (name: string, run: Run, data: Data, so: So): void => {
    const state = machine.States[name];
    if (!state) throw new Error(`no state ${name}`);
    const here = { ...so, states: [...so.states, name] };
    if (so.states.includes(name)) throw new Error(`loops: ${here.states.join(' → ')}`);
    if (state.Type === 'Choice') {
      const choice = state.Choices?.find(({ Variable, StringEquals }) => {
        if (Variable !== '$.result.next') throw new Error(`${name}: unknown variable ${Variable}`);
        return data.next === StringEquals;
      });
      // A choice without a match leads to the default, which must be the expected state.
      const to = choice?.Next ?? (state.Default as string);
      if (to !== data.next) throw new Error(`${name} leads to ${to}, not to ${data.next}`);
      walk(to, run, data, here);
      return;
    }
    if (state.Type !== 'Task' && state.Type !== 'Map') throw new Error(`${name}: unknown type ${state.Type}`);
    if (isEnding(name)) {
      if (!state.End) throw new Error(`${name} does not end`);
      end(name, run, here);
      return;
    }
    const { entered, ways } = waysOut(state, name, run);
    const statuses =
      run.status === entered.status
        ? here.statuses
        : [...here.statuses, ...completedBefore(run, here.statuses, entered.status), entered.status];
    for (const way of ways) {
      const [, after] = way;
      follow(state, name, way, data, {
        ...here,
        statuses:
          after.status === entered.status
            ? statuses
            : [...statuses, ...completedBefore(after, statuses, after.status), after.status],
      });
    }
  };

  if (isFinal(first.status)) throw new Error('a run begins unfinished');
  const created = takesQueue(first)
    ? { 'its turn': { ...first, current: true }, 'a place in the queue': first }
    : { '': first };
  for (const [what, run] of Object.entries(created)) {
    const so = { happenings: what ? [`Creation: ${what}`] : [], states: [], statuses: [first.status], caught: [] };
    walk(machine.StartAt, run, { next: firstState(run) }, so);
  }
  return paths;
};

/** Statuses that are stamped before a status. */
const completedBefore = (run: Run, visited: RunStatus[], status?: RunStatus): RunStatus[] =>
  completed(run).filter((one) => one !== status && !visited.includes(one));
