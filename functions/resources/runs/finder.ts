import { byId, inWorkspace, param } from '#api/finders.ts';
import type { Finder } from '#api/route.ts';
import { applyId, planId, runIdOf } from '#platform/store/id.ts';
import { isHidden } from '#run/hidden.ts';
import type { Run } from '#run/run.ts';
import { getRunWithEvents, type RunWithEvents, runOfComment, runOfEvent } from './events.ts';
import { getRun as getAny } from './records.ts';
import { getRunTrigger } from './triggers.ts';

/** Health assessments (functions/resources/workspaces/health/), test runs and queries are not visible as runs. */
const unlessHidden = <R extends Run>(run: R | undefined): R | undefined => (run && isHidden(run) ? undefined : run);

const getRun = async (id: string): Promise<Run | undefined> => unlessHidden(await getAny(id));

export const runTrigger = byId({ what: 'run trigger', parameter: 'trigger', get: getRunTrigger, ...inWorkspace });

export const run = byId({ what: 'run', parameter: 'run', get: getRun, ...inWorkspace });

/** A single run with the ids of its events, which lists leave out. */
export const runWithEvents: Finder<RunWithEvents> = {
  ...run,
  find: async (request) => unlessHidden(await getRunWithEvents(param(request, 'run'))),
  ...inWorkspace,
};

/** Finds plans, applies and cost estimates by their run. */
const part = (noun: string, idOf: (runId: string) => string): Finder<Run> => ({
  what: noun,
  parameter: noun,
  find: async (request) => {
    const id = param(request, noun);
    const runId = runIdOf(id);
    return idOf(runId) === id ? getRun(runId) : undefined;
  },
  ...inWorkspace,
});

export const plan = part('plan', planId);

/** A run task may read the plan of its own run. */
export const taskPlan: Finder<Run> = { ...plan, ofTask: ({ id }, run) => run.id === id };

export const apply = part('apply', applyId);

/** Finds the run of an event or comment. */
const about = (noun: string, parameter: string, runIdIn: (id: string) => string | undefined): Finder<Run> => ({
  what: noun,
  parameter,
  find: async (request) => {
    const id = runIdIn(param(request, parameter));
    return id === undefined ? undefined : getRun(id);
  },
  ...inWorkspace,
});

export const runOfAComment = about('comment', 'comment', runOfComment);

export const runOfAnEvent = about('run event', 'event', runOfEvent);
