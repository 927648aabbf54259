import { type Answer, ok, plainText, type Resource } from '#api/answer.ts';
import { conflict, notFound } from '#api/errors.ts';
import { inWorkspace } from '#api/finders.ts';
import { includable } from '#api/include.ts';
import { pageFrom, pageWith } from '#api/pagination.ts';
import { type Context, type Finder, type Route, route } from '#api/route.ts';
import { readComment } from '#api/validation.ts';
import { evaluationDocument } from '#resources/policies/result-document.ts';
import { runDocument } from '#resources/runs/document.ts';
import { run } from '#resources/runs/finder.ts';
import { getRun } from '#resources/runs/records.ts';
import { workspaceDocument } from '#resources/workspaces/document.ts';
import { getWorkspace } from '#resources/workspaces/records.ts';
import type { Decide } from '#run/actions.ts';
import type { TaskStage } from '#run/check-record.ts';
import type { Run } from '#run/run.ts';
import { readTaskStageId, type StageFacts, stagesOf, taskStageStatus } from '#run/task-stages.ts';
import { type Outcome, readOutcomes, resultIdOfOutcome } from './outcomes.ts';
import { getTaskResult, type TaskResult } from './results.ts';
import { outcomeDocument, taskResultDocument, taskStageDocument } from './stage-document.ts';
import { listTaskResults } from './stages.ts';

/** Task stages, their results and outcomes (HCP API: run task stages and results). */

/** A stage of a run, with the run. */
interface Stage {
  organization: string;
  workspaceId: string;
  run: Run;
  stage: TaskStage;
}

const taskStage: Finder<Stage> = {
  what: 'task stage',
  parameter: 'stage',
  find: async ({ params }) => {
    const named = readTaskStageId(params.stage ?? '');
    const run = named && (await getRun(named.runId));
    if (!named || !run || !stagesOf(run).includes(named.stage)) return undefined;
    return { organization: run.organization, workspaceId: run.workspaceId, run: run, stage: named.stage };
  },
  ...inWorkspace,
};

/** A result, with its run. */
interface Result {
  organization: string;
  workspaceId: string;
  run: Run;
  result: TaskResult;
}

const withRun = async (result: TaskResult | undefined): Promise<Result | undefined> => {
  const run = result && (await getRun(result.runId));
  if (!run || !listed(run, result)) return undefined;
  return { organization: run.organization, workspaceId: run.workspaceId, run: run, result };
};

/** Skips a result that the run does not list: a superseded attempt to create the run left it behind. */
const listed = (run: StageFacts, { id, stage }: TaskResult): boolean =>
  run.checks?.tasks?.[stage]?.taskResultIds.includes(id) ?? false;

const taskResult: Finder<Result> = {
  what: 'task result',
  parameter: 'result',
  find: async ({ params }) => withRun(await getTaskResult(params.result ?? '')),
  ...inWorkspace,
};

const taskOutcome: Finder<Result> = {
  what: 'task result outcome',
  parameter: 'outcome',
  find: async ({ params }) => {
    const resultId = resultIdOfOutcome(params.outcome ?? '');
    return resultId === undefined ? undefined : withRun(await getTaskResult(resultId));
  },
  ...inWorkspace,
};

const include = includable('run', 'run.workspace', 'task_results', 'policy_evaluations', 'cost_estimate');

/**
 * Resources included with a run's stages. The included workspace has no link to a run, because a cycle of included
 * documents breaks clients.
 */
const related = async (
  { request, granted, principal }: Context<Stage> | Context<Run>,
  run: Run,
  stages: TaskStage[],
): Promise<Resource[] | undefined> => {
  const includes = include.of(request);
  if (includes.size === 0) return undefined;
  const judged = includes.has('policy_evaluations') && stages.includes('post_plan') && run.checks?.policyEvaluation;
  const [results, home, evaluation] = await Promise.all([
    includes.has('task_results') ? listTaskResults(run, stages.length === 1 ? stages[0] : undefined) : [],
    includes.has('run.workspace') ? getWorkspace(run.workspaceId) : undefined,
    judged ? evaluationDocument(run) : undefined,
  ]);
  const viewer = { granted, userId: principal.userId };
  return [
    ...results.map((result) => taskResultDocument(result, run)),
    ...(evaluation ? [evaluation] : []),
    ...(includes.has('run') ? [withoutStages(runDocument(run, viewer))] : []),
    ...(home ? [withoutRun(workspaceDocument(home, granted))] : []),
  ];
};

const without = (document: Resource, ...names: string[]): Resource => {
  const relationships = Object.entries(document.relationships ?? {}).filter(([name]) => !names.includes(name));
  return { ...document, relationships: Object.fromEntries(relationships) };
};
const withoutStages = (document: Resource): Resource => without(document, 'task-stages');
const withoutRun = (document: Resource): Resource => without(document, 'current-run', 'latest-run', 'locked-by');

const listOfRun = async (context: Context<Run>): Promise<Answer> => {
  const { request, subject } = context;
  return pageWith(request, stagesOf(subject), async (shown) => ({
    data: shown.map((stage) => taskStageDocument(subject, stage, context)),
    included: await related(context, subject, shown),
  }));
};

const readStage = async (context: Context<Stage>): Promise<Answer> => {
  const { run, stage } = context.subject;
  return ok(taskStageDocument(run, stage, context), await related(context, run, [stage]));
};

/** Overrides failed policies; mandatory run tasks cannot be overridden. */
const override =
  (decide: Decide) =>
  async (context: Context<Stage>): Promise<Answer> => {
    const { request, subject, principal } = context;
    const { run, stage } = subject;
    const status = taskStageStatus(run, stage);
    const comment = readComment(request);
    // Clients repeat a POST whose response was lost.
    const repeated = stage === 'post_plan' && run.overrides?.policyEvaluation?.by === principal.userId;
    const accepted =
      status === 'awaiting_override' &&
      (await decide(run, 'override', principal.userId, comment, 'policyEvaluation')) === 'accepted';
    if (!accepted && !repeated) {
      throw conflict(
        `This task stage is ${status}: only one that awaits an override can be overridden. A failed mandatory run task cannot be overridden: make it advisory or fix its findings, then start a new run.`,
        'transition not allowed',
      );
    }
    return ok(taskStageDocument((await getRun(run.id)) ?? run, stage, context));
  };

const readResult = async ({ subject }: Context<Result>): Promise<Answer> =>
  ok(taskResultDocument(subject.result, subject.run));

const listOutcomes = async ({ request, subject }: Context<Result>): Promise<Answer> => {
  const all = await readOutcomes(subject.result);
  return pageFrom(request, all, (outcome) => outcomeDocument(outcome, subject.result.id));
};

const outcomeOf = async ({ request, subject }: Context<Result>): Promise<Outcome> => {
  const outcome = (await readOutcomes(subject.result)).find(({ id }) => id === request.params.outcome);
  if (!outcome) throw notFound("Task result outcome not found, or you don't have access.");
  return outcome;
};

const readOutcome = async (context: Context<Result>): Promise<Answer> =>
  ok(outcomeDocument(await outcomeOf(context), context.subject.result.id));

/** Untrusted Markdown from the task: returned as text, never rendered as a page. */
const readBody = async (context: Context<Result>): Promise<Answer> => {
  const { body } = await outcomeOf(context);
  if (!body) throw notFound('This task result outcome has no body.');
  return plainText(body);
};

/** The bodies of the outcomes, joined: tasks report no other text. */
const readResultBody = async ({ subject }: Context<Result>): Promise<Answer> => {
  const texts = (await readOutcomes(subject.result)).flatMap(({ body }) => (body ? [body] : []));
  if (texts.length === 0) throw notFound('This task result has no body: none of its outcomes has one.');
  return plainText(texts.join('\n\n'));
};

export const taskStageRoutes = (decide: Decide): Route[] => [
  route('GET', '/runs/{run}/task-stages', 'run:read', run, listOfRun, { include }),
  route('GET', '/task-stages/{stage}', 'run:read', taskStage, readStage, { include }),
  route('POST', '/task-stages/{stage}/actions/override', 'run:override-policy', taskStage, override(decide)),
  route('GET', '/task-results/{result}', 'run:read', taskResult, readResult),
  route('GET', '/task-results/{result}/body', 'run:read', taskResult, readResultBody),
  route('GET', '/task-results/{result}/outcomes', 'run:read', taskResult, listOutcomes),
  route('GET', '/task-result-outcomes/{outcome}', 'run:read', taskOutcome, readOutcome),
  route('GET', '/task-result-outcomes/{outcome}/body', 'run:read', taskOutcome, readBody),
];
