import { inWorkspace, param } from '#api/finders.ts';
import type { Finder } from '#api/route.ts';
import { costEstimateId, runIdOf } from '#platform/store/id.ts';
import { getRun } from '#resources/runs/records.ts';
import type { Run } from '#run/run.ts';

export const costEstimate: Finder<Run> = {
  what: 'cost estimate',
  parameter: 'estimate',
  find: async (request) => {
    const id = param(request, 'estimate');
    const run = costEstimateId(runIdOf(id)) === id ? await getRun(runIdOf(id)) : undefined;
    return run?.costEstimate && run;
  },
  ...inWorkspace,
};
