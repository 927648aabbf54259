import { type Answer, noContent, ok, redirect } from '#api/answer.ts';
import { notFound, unavailable } from '#api/errors.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { objectSize, presignGet } from '#platform/store/bucket.ts';
import { checkStored } from '#platform/store/integrity.ts';
import { objects } from '#platform/store/keys.ts';
import type { Run } from '#run/run.ts';
import { isPhaseFinal } from '#run/status.ts';
import { applyDocument, planDocument } from './document.ts';
import { apply, plan, run, taskPlan } from './finder.ts';
import { linkSeconds, linkToArtifact, linkToRedacted, schemasOf } from './plan-links.ts';

const unlessDeleted =
  (handle: (context: Context<Run>) => Promise<Answer>) =>
  (context: Context<Run>): Promise<Answer> => {
    const { id, plan } = context.subject;
    if (plan.content) throw notFound(`The content of the plan of run ${id} was deleted.`);
    return handle(context);
  };

/** 204 until the plan has JSON output. */
const jsonOutput = async ({ subject }: Context<Run>): Promise<Answer> =>
  subject.plan.report?.artifacts?.['plan-json'] ? linkToArtifact(subject, 'plan-json') : noContent();

/** The command line retries after a 503 and fails after a 204. */
const jsonOutputRedacted = async ({ subject, request }: Context<Run>): Promise<Answer> => {
  const link = await linkToRedacted(subject, request);
  if (link) return link;
  if (isPhaseFinal(subject.plan.status)) {
    throw notFound(`The plan of run ${subject.id} has no JSON output: it is ${subject.plan.status}.`);
  }
  throw unavailable(`The plan of run ${subject.id} is not finished yet.`);
};

/** Schemas of every type in the plan; the runner uploads them after everything that the run waits for. */
const jsonSchema = ({ subject }: Context<Run>): Promise<Answer> => schemasOf(subject);

const erroredState = async ({ subject }: Context<Run>): Promise<Answer> => {
  const key = objects.erroredState(subject.workspaceId, subject.id, subject.unsaved?.copy);
  if (subject.apply.content) throw notFound(`The content of the apply of run ${subject.id} was deleted.`);
  if (!(await objectSize(key))) {
    throw notFound(`The apply of run ${subject.id} has no errored state.`);
  }
  await checkStored(`The errored state of run ${subject.id}`, key, subject.unsaved?.sha256);
  return redirect(307, await presignGet(key, linkSeconds));
};

const readPlan = async ({ request, subject, granted }: Context<Run>): Promise<Answer> =>
  ok(planDocument(subject, request.baseUrl, granted));

const readApply = async ({ request, subject }: Context<Run>): Promise<Answer> =>
  ok(applyDocument(subject, request.baseUrl));

export const planRoutes: Route[] = [
  route('GET', '/plans/{plan}', 'run:read', plan, readPlan),
  route('GET', '/plans/{plan}/json-output', 'plan:read-json', taskPlan, unlessDeleted(jsonOutput)),
  route('GET', '/plans/{plan}/json-output-redacted', 'run:read', plan, unlessDeleted(jsonOutputRedacted)),
  route('GET', '/plans/{plan}/json-schema', 'run:read', plan, unlessDeleted(jsonSchema)),
  route('GET', '/runs/{run}/plan', 'run:read', run, readPlan),
  route('GET', '/runs/{run}/plan/json-schema', 'run:read', run, unlessDeleted(jsonSchema)),
  route('GET', '/runs/{run}/plan/json-output', 'plan:read-json', run, unlessDeleted(jsonOutput)),
  route('GET', '/runs/{run}/plan/json-output-redacted', 'run:read', run, unlessDeleted(jsonOutputRedacted)),
  route('GET', '/applies/{apply}', 'run:read', apply, readApply),
  route('GET', '/applies/{apply}/errored-state', 'state:read', apply, erroredState),
  route('GET', '/runs/{run}/apply', 'run:read', run, readApply),
];
