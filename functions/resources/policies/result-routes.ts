import { type Answer, ok, plainText, type Resource } from '#api/answer.ts';
import { conflict, notFound } from '#api/errors.ts';
import { inWorkspace } from '#api/finders.ts';
import { includable } from '#api/include.ts';
import { list, pageFrom, pageOf, pageSlice } from '#api/pagination.ts';
import { type Context, type Finder, type Route, route } from '#api/route.ts';
import { readComment } from '#api/validation.ts';
import { runDocument } from '#resources/runs/document.ts';
import { run } from '#resources/runs/finder.ts';
import { getRun } from '#resources/runs/records.ts';
import { workspaceDocument } from '#resources/workspaces/document.ts';
import { getWorkspace } from '#resources/workspaces/records.ts';
import type { Decide } from '#run/actions.ts';
import { isJudged, policyCheckId, policyCheckStatus, policyEvaluationStatus } from '#run/policy-status.ts';
import type { Run } from '#run/run.ts';
import { readTaskStageId } from '#run/task-stages.ts';
import { checkOutput } from './engine/check-output.ts';
import { evaluationDocument, policyCheckDocument, policySetOutcomeDocument } from './result-document.ts';
import {
  getPolicyResult,
  policyEvaluationId,
  readPolicySetOutcomeId,
  readPolicySetOutcomes,
  runOfPolicyResult,
} from './result-records.ts';

/** Policy results of a run: its policy check, and the policy evaluation of its post-plan stage. */

const withCheck = (run: Run | undefined): Run | undefined => (run?.checks?.policyCheck ? run : undefined);
const withEvaluation = (run: Run | undefined): Run | undefined => (run?.checks?.policyEvaluation ? run : undefined);

const policyCheck: Finder<Run> = {
  what: 'policy check',
  find: async ({ params: { check = '' } }) => {
    const runId = runOfPolicyResult(check);
    return runId && policyCheckId(runId) === check ? withCheck(await getRun(runId)) : undefined;
  },
  ...inWorkspace,
};

const policyEvaluation: Finder<Run> = {
  what: 'policy evaluation',
  find: async ({ params: { evaluation = '' } }) => {
    const runId = runOfPolicyResult(evaluation);
    return runId && policyEvaluationId(runId) === evaluation ? withEvaluation(await getRun(runId)) : undefined;
  },
  ...inWorkspace,
};

const stageOfEvaluation: Finder<Run> = {
  what: 'task stage',
  find: async ({ params: { stage = '' } }) => {
    const named = readTaskStageId(stage);
    return named && getRun(named.runId);
  },
  ...inWorkspace,
};

const policySetOutcome: Finder<Run> = {
  what: 'policy set outcome',
  find: async ({ params: { policySetOutcome: id = '' } }) => {
    const named = readPolicySetOutcomeId(id);
    return named && withEvaluation(await getRun(named.runId));
  },
  ...inWorkspace,
};

const include = includable('run', 'run.workspace');

/** Without the run's policy checks: a cycle of included documents breaks clients. */
const related = async ({ request, subject, granted, principal }: Context<Run>): Promise<Resource[] | undefined> => {
  const includes = include.of(request);
  if (includes.size === 0) return undefined;
  const document = runDocument(subject, { granted, userId: principal.userId });
  const home = includes.has('run.workspace') ? await getWorkspace(subject.workspaceId) : undefined;
  const { 'policy-checks': _, ...relationships } = document.relationships ?? {};
  return [{ ...document, relationships }, ...(home ? [withoutRun(workspaceDocument(home, granted))] : [])];
};

const withoutRun = (document: Resource): Resource => {
  const names = ['current-run', 'latest-run', 'locked-by'];
  const relationships = Object.entries(document.relationships ?? {}).filter(([name]) => !names.includes(name));
  return { ...document, relationships: Object.fromEntries(relationships) };
};

const checkDocument = async (subject: Run, context: Pick<Context<Run>, 'granted'>): Promise<Resource> => {
  const result = isJudged(policyCheckStatus(subject)) ? await getPolicyResult(subject.id, 'check') : undefined;
  return policyCheckDocument(subject, result, result ? await readPolicySetOutcomes(result) : [], context);
};

const listChecks = async (context: Context<Run>): Promise<Answer> => {
  const { request, subject } = context;
  const all = withCheck(subject) ? [await checkDocument(subject, context)] : [];
  const page = pageOf(request);
  return list(request, page, all.length, pageSlice(all, page), all.length ? await related(context) : undefined);
};

const readCheck = async (context: Context<Run>): Promise<Answer> =>
  ok(await checkDocument(context.subject, context), await related(context));

/** Empty until the check is complete. */
const readOutput = async ({ subject }: Context<Run>): Promise<Answer> => {
  const result = isJudged(policyCheckStatus(subject)) ? await getPolicyResult(subject.id, 'check') : undefined;
  if (!result) return plainText('');
  const sets = await readPolicySetOutcomes(result);
  return plainText(sets.length ? checkOutput(sets) : 'The policy results have expired.\n');
};

const override =
  (decide: Decide) =>
  async (context: Context<Run>): Promise<Answer> => {
    const { request, subject, principal } = context;
    const status = policyCheckStatus(subject);
    const soft = status === 'soft_failed' || status === 'overridden';
    const result = soft
      ? await decide(subject, 'override', principal.userId, readComment(request), 'policyCheck')
      : 'conflict';
    if (result !== 'accepted') {
      throw conflict(
        `This policy check is ${status} and its run ${subject.status}: only soft-mandatory failures of a run that awaits an override can be overridden.`,
        'transition not allowed',
      );
    }
    return ok(await checkDocument((await getRun(subject.id)) ?? subject, context));
  };

const listEvaluations = async ({ request, subject }: Context<Run>): Promise<Answer> => {
  const named = readTaskStageId(request.params.stage ?? '');
  const all = named?.stage === 'post_plan' && withEvaluation(subject) ? [await evaluationDocument(subject)] : [];
  return pageFrom(request, all, (document) => document);
};

const outcomesOf = async (subject: Run): Promise<Resource[]> => {
  const result = isJudged(policyEvaluationStatus(subject))
    ? await getPolicyResult(subject.id, 'evaluation')
    : undefined;
  const sets = result ? await readPolicySetOutcomes(result) : [];
  return sets.map((set, i) => policySetOutcomeDocument(subject.id, i, set));
};

interface Outcome {
  status: string;
  enforcement_level: string;
}

/** `filter[n][status]`, `filter[n][enforcement_level]`: sets with a policy that meets any of the filters. */
const filtered = (query: URLSearchParams, documents: Resource[]): Resource[] => {
  const filters = new Map<string, { status?: string; level?: string }>();
  for (const [name, value] of query) {
    const [, n, field] =
      /^filter\[(\w+)\]\[(status|enforcement_level|enforcement-level|enforcementLevel)\]$/.exec(name) ?? [];
    if (n === undefined) continue;
    filters.set(n, { ...filters.get(n), [field === 'status' ? 'status' : 'level']: value });
  }
  if (filters.size === 0) return documents;
  const meets = (outcome: Outcome): boolean =>
    [...filters.values()].some(
      ({ status, level }) =>
        (status === undefined || outcome.status === status) &&
        (level === undefined || outcome.enforcement_level === level),
    );
  return documents.filter(({ attributes }) => (attributes.outcomes as Outcome[]).some(meets));
};

const listOutcomes = async ({ request, subject }: Context<Run>): Promise<Answer> => {
  const all = filtered(request.query, await outcomesOf(subject));
  return pageFrom(request, all, (document) => document);
};

const readOutcome = async ({ request, subject }: Context<Run>): Promise<Answer> => {
  const outcome = (await outcomesOf(subject)).find(({ id }) => id === request.params.policySetOutcome);
  if (!outcome) throw notFound("Policy set outcome not found, or you don't have access.");
  return ok(outcome);
};

export const policyResultRoutes = (decide: Decide): Route[] => [
  route('GET', '/runs/{run}/policy-checks', 'run:read', run, listChecks, { include }),
  route('GET', '/policy-checks/{check}', 'run:read', policyCheck, readCheck, { include }),
  route('GET', '/policy-checks/{check}/output', 'run:read', policyCheck, readOutput),
  route('POST', '/policy-checks/{check}/actions/override', 'run:override-policy', policyCheck, override(decide)),
  route('GET', '/task-stages/{stage}/policy-evaluations', 'run:read', stageOfEvaluation, listEvaluations),
  route('GET', '/policy-evaluations/{evaluation}', 'run:read', policyEvaluation, async ({ subject }) =>
    ok(await evaluationDocument(subject)),
  ),
  route('GET', '/policy-evaluations/{evaluation}/policy-set-outcomes', 'run:read', policyEvaluation, listOutcomes, {
    'filter[*][status]': 'text',
    'filter[*][enforcement_level]': 'text',
    'filter[*][enforcement-level]': 'text',
    'filter[*][enforcementLevel]': 'text',
  }),
  route('GET', '/policy-set-outcomes/{policySetOutcome}', 'run:read', policySetOutcome, readOutcome),
];
