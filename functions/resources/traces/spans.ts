import { phaseSpan, rootSpan, statusSpan } from '#platform/formats/trace-ids.ts';
import { traceparentForm } from '#platform/store/invocation.ts';
import type { Span as ResourceSpan } from '#platform/text/resource-times.ts';
import type { TaskResult } from '#resources/run-tasks/results.ts';
import { taskStages } from '#run/check-record.ts';
import { hasPlanRunner, organizationNameOf, type PhaseName, type Run } from '#run/run.ts';
import { isFinal, type RunStatus, runStatuses, statuses, timestampKey } from '#run/status.ts';

/**
 * The trace of a run that has ended, from what was recorded during the run: nothing is measured for it. Names of
 * attributes are those of OpenTelemetry's semantic conventions for CI/CD, where they exist. Pure.
 */

export type Attribute = string | number | boolean;

export interface TraceSpan {
  /** Unique within the trace; ids are derived from it. */
  key: string;
  /** Key of the parent; absent for the root. */
  parent?: string;
  name: string;
  kind?: 'internal' | 'server' | 'client';
  /** Milliseconds since 1970. */
  from: number;
  to: number;
  attributes?: Record<string, Attribute | undefined>;
  events?: { name: string; at: number }[];
  /** A span of another trace that caused this one. */
  link?: { traceId: string; spanId: string };
  /** Reason of a failure, possibly empty; undefined for success. */
  failed?: string;
}

export interface TraceFacts {
  /** Has ended. */
  run: Run;
  tasks: TaskResult[];
  /** Terraform's work on each resource, in the runner's clock. */
  resources: Record<PhaseName, ResourceSpan[]>;
  /** URL of the run's page. */
  url: string;
}

const results = { done: 'success', failed: 'failure', stopped: 'cancellation' } as const;

const ms = (at: string): number => Date.parse(at);

export const traceSpans = (facts: TraceFacts): TraceSpan[] => {
  const { run } = facts;
  const states = statusSpans(run);
  const root = rootOf(facts);
  return [
    root,
    ...requestSpan(run),
    ...states,
    ...(['plan', 'apply'] as const).flatMap((phase) => phaseSpans(facts, phase, states)),
    ...facts.tasks.flatMap((task) => taskSpan(task, states)),
  ];
};

const endOf = ({ status, statusTimestamps, createdAt }: Run): number =>
  ms(statusTimestamps[timestampKey(status)] ?? createdAt);

const rootOf = ({ run, url }: TraceFacts): TraceSpan => {
  const { status, request, decision, cancel } = run;
  const { final } = statuses[status];
  const [, traceId, spanId] = traceparentForm.exec(request?.traceparent ?? '') ?? [];
  return {
    key: rootSpan,
    name: `run ${run.workspaceName}`,
    from: ms(request?.at ?? run.createdAt),
    to: endOf(run),
    attributes: {
      'cicd.pipeline.name': run.workspaceName,
      'cicd.pipeline.run.id': run.id,
      'cicd.pipeline.run.url.full': url,
      'cicd.pipeline.result': final ? results[final] : undefined,
      'stepform.organization': organizationNameOf(run),
      'stepform.workspace.id': run.workspaceId,
      'stepform.run.status': status,
      'stepform.run.source': run.source,
      'stepform.run.destroy': run.isDestroy,
      'stepform.run.plan_only': run.planOnly,
    },
    events: [
      ...(decision ? [{ name: decision.action === 'apply' ? 'confirmed' : 'discarded', at: ms(decision.at) }] : []),
      ...(cancel ? [{ name: 'cancel requested', at: ms(cancel.at) }] : []),
      ...(cancel?.forced ? [{ name: 'force-cancel requested', at: ms(cancel.forced.at) }] : []),
    ],
    // A public service does not continue its callers' traces (W3C Trace Context §3.3: restart trace), but names them.
    ...(traceId && spanId ? { link: { traceId, spanId } } : {}),
    ...(final === 'failed' ? { failed: run.endReason ?? run.failure ?? '' } : {}),
  };
};

/** `/workspaces/ws-CZcmD7eagjhyX0vN` → `/workspaces/{id}`: span names are few. */
const withoutIds = (path: string): string => path.replaceAll(/\/[a-z]+-[A-Za-z0-9]{16}(?=\/|$)/g, '/{id}');

/** The request until the run was stored; its response follows within a second. */
const requestSpan = ({ request, createdAt }: Run): TraceSpan[] =>
  request
    ? [
        {
          key: 'request',
          parent: rootSpan,
          kind: 'server',
          name: `${request.method} ${withoutIds(request.path)}`,
          from: ms(request.at),
          to: Math.max(ms(request.at), ms(createdAt)),
          attributes: {
            'http.request.method': request.method,
            'url.path': request.path,
            'stepform.request.id': request.id,
          },
        },
      ]
    : [];

/** Statuses that the run has passed, each until the next one. */
const statusSpans = (run: Run): TraceSpan[] => {
  const passed = runStatuses
    .filter((status) => !isFinal(status))
    .flatMap((status) => {
      const at = run.statusTimestamps[timestampKey(status)];
      return at ? [{ status, at: ms(at) }] : [];
    })
    .sort((a, b) => a.at - b.at);
  const end = endOf(run);
  return passed.map(({ status, at }, i) => {
    const isLast = i === passed.length - 1;
    return {
      key: statusSpan(status),
      parent: rootSpan,
      name: status,
      from: at,
      to: Math.max(at, passed[i + 1]?.at ?? end),
      attributes: { 'cicd.pipeline.task.name': statuses[status].label, ...verdictOf(run, status) },
      ...(isLast && run.status === 'errored' ? { failed: '' } : {}),
    };
  });
};

const verdictOf = ({ verdicts = {}, costEstimate }: Run, status: RunStatus): Record<string, Attribute | undefined> => {
  const stage = taskStages.find((one) => status === `${one}_running`);
  return {
    ...(stage ? { 'stepform.tasks.verdict': verdicts[stage] } : {}),
    ...(status === 'post_plan_running' ? { 'stepform.policies.verdict': verdicts.policyEvaluation } : {}),
    ...(status === 'policy_checking' ? { 'stepform.policies.verdict': verdicts.policyCheck } : {}),
    ...(status === 'cost_estimating' ? { 'stepform.costs.status': costEstimate?.status } : {}),
  };
};

/** Clocks of machines differ by less; a runner whose clock differs by more has its times moved. */
const clockMs = 5000;

/** A child lies within its parent, which was recorded by another clock. */
const within = (parent: TraceSpan, from: number, to: number): Pick<TraceSpan, 'from' | 'to'> => {
  const start = Math.min(Math.max(from, parent.from), parent.to);
  return { from: start, to: Math.min(Math.max(to, start), parent.to) };
};

/** The runner's steps, and Terraform's work on each resource. */
const phaseSpans = ({ run, resources }: TraceFacts, phase: PhaseName, states: TraceSpan[]): TraceSpan[] => {
  const parent = states.find(({ key }) => key === phaseSpan(phase));
  if (!parent) return [];
  const { report, agent, taskId, reserved } = run[phase];
  Object.assign(parent.attributes ?? {}, {
    'cicd.worker.name': agent?.name ?? taskId,
    'stepform.runner.ready': reserved !== undefined || (phase === 'apply' && hasPlanRunner(run)),
    'stepform.terraform.version': report?.terraformVersion,
  });
  const steps = report?.steps;
  const begun = steps ? ms(steps.at) : parent.from;
  const shift = Math.abs(parent.from - begun) > clockMs ? parent.from - begun : 0;
  const stepSpans = Object.entries(steps?.began ?? {}).map(([step, after]): TraceSpan => {
    const from = begun + shift + after;
    return {
      key: `${phase} step ${step}`,
      parent: parent.key,
      name: step,
      ...within(parent, from, from + (steps?.took[step] ?? 0)),
      attributes: { 'cicd.pipeline.task.name': step },
    };
  });
  const above = stepSpans.find(({ name }) => name === phase) ?? parent;
  const work = resources[phase].map(
    ({ address, work, from, to, failed, line }): TraceSpan => ({
      key: `${phase} resource ${line}`,
      parent: above.key,
      kind: 'client',
      name: `${work} ${address}`,
      ...within(above, from + shift, to === undefined ? above.to : to + shift),
      attributes: { 'stepform.resource.address': address, 'stepform.resource.work': work },
      ...(failed ? { failed: '' } : {}),
    }),
  );
  return [...stepSpans, ...work];
};

const taskSpan = (task: TaskResult, states: TraceSpan[]): TraceSpan[] => {
  const parent = states.find(({ key }) => key === statusSpan(`${task.stage}_running`));
  if (!parent) return [];
  const { statusTimestamps: stamps, status } = task;
  const begun = task.waitingSince ?? stamps['running-at'];
  return [
    {
      key: `task ${task.id}`,
      parent: parent.key,
      kind: 'client',
      name: `run task ${task.taskName}`,
      ...within(
        parent,
        begun ? ms(begun) : parent.from,
        stamps[`${status}-at`] ? ms(stamps[`${status}-at`] ?? '') : parent.to,
      ),
      attributes: { 'cicd.pipeline.task.name': task.taskName, 'cicd.pipeline.task.run.result': status },
      ...(status === 'passed' ? {} : { failed: task.message ?? status }),
    },
  ];
};
