import { getProject } from '#resources/projects/records.ts';
import { listInputs } from '#resources/runs/inputs.ts';
import { maxPlanBytes, readPlanJson } from '#resources/runs/plan-json.ts';
import { getUser } from '#resources/users/users.ts';
import { getWorkspace } from '#resources/workspaces/records.ts';
import {
  type CheckVerdict,
  checkCount,
  type EvaluationVerdict,
  judgeCheck,
  judgeEvaluation,
  type PolicySetOutcome,
  type ReasonedVerdict,
  resultCount,
} from '#run/policies.ts';
import { nameOfCreator, type Run } from '#run/run.ts';
import { getPolicyResult, keepPolicyResult, type ResultKind } from '../result-records.ts';
import { policySetsOfRun } from '../run-policies.ts';
import type { Limits } from './engine.ts';
import { evaluateSet, unevaluated } from './evaluate-set.ts';
import { runInput, writeInput } from './input.ts';

/** Limits for one policy and for one process. */
const perPolicy = { seconds: 30, memoryMiB: 1024, outputBytes: 4 * 1024 * 1024 };
/** Limit for all policies of an evaluation; its Lambda function has one minute more. */
const evaluationSeconds = 240;

const surroundings = async (run: Run) => {
  const [workspace, user, variables] = await Promise.all([
    getWorkspace(run.workspaceId),
    getUser(run.createdBy),
    listInputs(run),
  ]);
  const project = workspace && (await getProject(workspace.projectId));
  return { workspace, project, createdBy: user?.username ?? nameOfCreator(run), variables };
};

const outcomesOf = async (run: Run, kind: ResultKind): Promise<PolicySetOutcome[]> => {
  const sets = await policySetsOfRun(run.id, kind);
  const { uncompared } = run.plan.report ?? {};
  if (uncompared !== undefined) return sets.map((set) => unevaluated(set, uncompared));
  const [plan, around] = await Promise.all([readPlanJson(run), surroundings(run)]);
  if (!plan) throw new Error(`the plan of run ${run.id} is missing`);
  if (typeof plan === 'number') {
    throw new Error(`the plan of run ${run.id} has ${plan} bytes in JSON; the maximum for policies is ${maxPlanBytes}`);
  }
  const limits: Limits = { ...perPolicy, deadline: Date.now() + evaluationSeconds * 1000 };
  const input = await writeInput(plan, runInput(run, around));
  try {
    const outcomes: PolicySetOutcome[] = [];
    for (const set of sets) outcomes.push(await evaluateSet(set, input, limits));
    return outcomes;
  } finally {
    await input.remove();
  }
};

const once = async <V extends string>(
  run: Run,
  kind: ResultKind,
  judged: (sets: PolicySetOutcome[]) => ReasonedVerdict<V> & { count: Record<string, number> },
): Promise<ReasonedVerdict<V>> => {
  let stored = await getPolicyResult(run.id, kind);
  if (!stored) {
    const started = Date.now();
    const sets = await outcomesOf(run, kind);
    const result = { runId: run.id, ...judged(sets), setCount: sets.length, durationMs: Date.now() - started };
    stored = await keepPolicyResult(kind, { ...result, at: new Date().toISOString() }, sets);
  }
  return { verdict: stored.verdict as V, ...(stored.reason === undefined ? {} : { reason: stored.reason }) };
};

/**
 * Evaluates the run's sets that are agent-enabled, as all of kind `opa` are, and stores the outcomes. Can be repeated: the first result stays. A failing
 * policy is an outcome, never an exception; throws only when storage fails.
 */
export const evaluatePolicies = (run: Run): Promise<ReasonedVerdict<EvaluationVerdict>> =>
  once(run, 'evaluation', (sets) => ({ ...judgeEvaluation(sets), count: { ...resultCount(sets) } }));

/** The same for the run's other sets, of kind `sentinel`: its policy check. */
export const checkPolicies = (run: Run): Promise<ReasonedVerdict<CheckVerdict>> =>
  once(run, 'check', (sets) => ({ ...judgeCheck(sets), count: { ...checkCount(sets) } }));
