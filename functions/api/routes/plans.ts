import type { Artifact, Run } from '../../run/run.ts';
import { isPhaseFinal } from '../../run/status.ts';
import { presignGet } from '../../store/bucket.ts';
import { objects } from '../../store/keys.ts';
import { type Answer, noContent, ok, redirect } from '../answer.ts';
import { applyDocument, planDocument } from '../documents/runs.ts';
import { notFound, unavailable } from '../errors.ts';
import { apply, plan, run } from '../finders.ts';
import { type Context, type Route, route } from '../route.ts';

/** Life of a link to a plan, in seconds (HCP API: plans). */
const linkSeconds = 60;

const link = async ({ id }: Run, artifact: Artifact): Promise<Answer> =>
  redirect(307, await presignGet(objects.artifact(id, 'plan', artifact), linkSeconds));

/** 204 until there is one. */
const jsonOutput = async ({ subject }: Context<Run>): Promise<Answer> =>
  subject.plan.report?.artifacts?.includes('plan-json') ? link(subject, 'plan-json') : noContent();

/** The command line repeats a 503 and fails on a 204 (api.md §2.3). */
const jsonOutputRedacted = async ({ subject }: Context<Run>): Promise<Answer> => {
  if (subject.plan.report?.artifacts?.includes('plan-json-redacted')) return link(subject, 'plan-json-redacted');
  if (isPhaseFinal(subject.plan.status)) {
    throw notFound(`The plan of run ${subject.id} ended without a plan in JSON: it is ${subject.plan.status}.`);
  }
  throw unavailable(`The plan of run ${subject.id} is not there yet.`);
};

const readPlan = async ({ request, subject }: Context<Run>): Promise<Answer> =>
  ok(planDocument(subject, request.baseUrl));

const readApply = async ({ request, subject }: Context<Run>): Promise<Answer> =>
  ok(applyDocument(subject, request.baseUrl));

export const planRoutes: Route[] = [
  route('GET', '/plans/{plan}', 'run:read', plan, readPlan),
  route('GET', '/plans/{plan}/json-output', 'plan:read-json', plan, jsonOutput),
  route('GET', '/plans/{plan}/json-output-redacted', 'run:read', plan, jsonOutputRedacted),
  route('GET', '/runs/{run}/plan', 'run:read', run, readPlan),
  route('GET', '/runs/{run}/plan/json-output', 'plan:read-json', run, jsonOutput),
  route('GET', '/runs/{run}/plan/json-output-redacted', 'run:read', run, jsonOutputRedacted),
  route('GET', '/applies/{apply}', 'run:read', apply, readApply),
  route('GET', '/runs/{run}/apply', 'run:read', run, readApply),
];
