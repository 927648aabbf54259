import * as v from 'valibot';
import { type Answer, created, ok, one, redirect } from '#api/answer.ts';
import { notFound, unprocessable } from '#api/errors.ts';
import { inWorkspace } from '#api/finders.ts';
import { type Context, type Finder, noContentAfter, type Route, route } from '#api/route.ts';
import { readData, requiredIn, toOne } from '#api/validation.ts';
import { parseExactly } from '#platform/formats/exact-json.ts';
import { presignGet } from '#platform/store/bucket.ts';
import { planId, runIdOf } from '#platform/store/id.ts';
import type { Run } from '#run/run.ts';
import { readPlanJson } from '../plan-json.ts';
import { getRun } from '../records.ts';
import type { PlanJson } from './mocks.ts';
import {
  createPlanExport,
  deletePlanExport,
  exportKey,
  getPlanExport,
  hasExpired,
  type PlanExport,
} from './records.ts';

/** Mock data for Sentinel from plans (HCP API: plan exports). */

/** The generated data has to fit into the function's memory. */
const maxPlanBytes = 16 * 1024 * 1024;
const linkSeconds = 60;

const document = (planExport: PlanExport) => {
  const expired = hasExpired(planExport);
  return {
    id: planExport.id,
    type: 'plan-exports',
    attributes: {
      'data-type': 'sentinel-mock-bundle-v0',
      status: expired ? 'expired' : 'finished',
      'status-timestamps': { 'queued-at': planExport.createdAt, 'finished-at': planExport.createdAt },
    },
    relationships: { plan: one('plans', planId(planExport.runId)) },
    links: {
      self: `/api/v2/plan-exports/${planExport.id}`,
      download: expired ? null : `/api/v2/plan-exports/${planExport.id}/download`,
    },
  };
};

/** The run whose plan the body names. */
const namedPlan: Finder<Run> = {
  what: 'plan',
  find: async (request) => {
    const id = requiredIn(request, 'plan', 'plans');
    const run = id.startsWith('plan-') ? await getRun(runIdOf(id)) : undefined;
    return run?.assessment ? undefined : run;
  },
  ...inWorkspace,
};

const planExport: Finder<PlanExport> = {
  what: 'plan export',
  parameter: 'planExport',
  find: ({ params }) => getPlanExport(params.planExport ?? ''),
  ...inWorkspace,
};

const attributes = {
  'data-type': v.literal('sentinel-mock-bundle-v0', 'must be "sentinel-mock-bundle-v0"'),
};

const notReady = (run: Run, why: string) =>
  unprocessable('/data/relationships/plan', `plan: the plan of run ${run.id} cannot be exported: ${why}`);

const create = async ({ request, subject }: Context<Run>): Promise<Answer> => {
  readData(request, attributes, { plan: toOne('plans') }, { shown: 'status status-timestamps error-message' });
  const { plan } = subject;
  if (plan.content) throw notReady(subject, 'its content was deleted');
  if (plan.status !== 'finished') throw notReady(subject, `it is ${plan.status}, not finished`);
  const json = await readPlanJson(subject);
  if (json === undefined) throw notReady(subject, 'it has no JSON output');
  if (typeof json === 'number' || json.length > maxPlanBytes) {
    throw notReady(subject, `its JSON output has more than ${maxPlanBytes / 1024 / 1024} MiB`);
  }
  const planExport = await createPlanExport(subject, parseExactly(json.toString('utf8')) as PlanJson);
  if (planExport) return created(document(planExport));
  throw notReady(subject, 'it has an export that can be downloaded. Use that, or delete it first');
};

const download = async ({ subject }: Context<PlanExport>): Promise<Answer> => {
  if (hasExpired(subject)) throw notFound(`Plan export ${subject.id} has expired. Create another one.`);
  return redirect(302, await presignGet(exportKey(subject), linkSeconds));
};

const single = '/plan-exports/{planExport}';

export const planExportRoutes: Route[] = [
  route('POST', '/plan-exports', 'plan:export', namedPlan, create),
  route('GET', single, 'plan:export', planExport, async ({ subject }) => ok(document(subject))),
  route('DELETE', single, 'plan:export', planExport, noContentAfter(deletePlanExport)),
  route('GET', `${single}/download`, 'plan:export', planExport, download),
];
