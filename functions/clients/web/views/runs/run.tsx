import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Resource } from '#clients/client/client.ts';
import { awaitedPool, failedFragment, failedPart, overrideOf, waitsForOverride } from '#clients/client/run-facts.ts';
import { addStyle } from '#clients/web/lazily.tsx';
import { useLive } from '#clients/web/live.ts';
import { hash, setHash } from '#clients/web/location.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { Notice } from '#clients/web/parts/basics.tsx';
import { FailedChecks } from '#clients/web/parts/failed-checks.tsx';
import { Page } from '#clients/web/parts/page.tsx';
import { knowPeople } from '#clients/web/parts/person.tsx';
import { Stages } from '#clients/web/parts/stages.tsx';
import { factsOf, isOver, pollIntervalOf } from '#clients/web/parts/status.tsx';
import { call, get, related } from '#clients/web/session.ts';
import runStyle from '#clients/web/style/run.css' with { type: 'text' };
import { displayStatus } from '#run/display.ts';
import { PolicyCheck, PolicyEvaluation } from '../policies/policies.tsx';
import { TaskStageView, useTaskStages } from '../run-tasks/run-task-stages.tsx';
import { ErroredState } from '../states/errored-state.tsx';
import { CostEstimate } from './cost-estimate.tsx';
import { EndReason } from './end-reason.tsx';
import { NoAgents } from './no-agents.tsx';
import { Phase } from './phase.tsx';
import { Retry } from './retry.tsx';
import { RunActions, wordsFor } from './run-actions.tsx';
import { RunHead, subjectOf } from './run-head.tsx';
import { RunOutcome } from './run-outcome.tsx';
import { RunSettings } from './run-settings.tsx';
import { Timeline } from './timeline.tsx';

addStyle(runStyle);

interface RunParts {
  run: Resource<'runs'>;
  plan: Resource<'plans'> | undefined;
  apply: Resource<'applies'> | undefined;
  costEstimate: Resource<'cost-estimates'> | undefined;
  /** The configuration's commit. */
  ingress: Resource<'ingress-attributes'> | undefined;
  taskStages: Resource<'task-stages'>[];
  workspace: Resource<'workspaces'> | undefined;
  /** The run that holds the workspace's lock while this one is queued. */
  front: Resource<'runs'> | undefined;
}

const load = async (id: string): Promise<RunParts> => {
  const path = `/runs/${encodeURIComponent(id)}?include=plan,apply,cost_estimate,task_stages,workspace,created_by,configuration_version.ingress_attributes`;
  const { data: run, included = [] } = await call('GET', path);
  knowPeople(included);
  const find = (type: string) => included.find((resource) => resource.type === type);
  const workspace = find('workspaces');
  const front = await frontOf(run, workspace);
  return {
    run,
    plan: find('plans'),
    apply: find('applies'),
    costEstimate: find('cost-estimates'),
    ingress: find('ingress-attributes'),
    taskStages: included.filter(({ type }) => type === 'task-stages'),
    workspace,
    front,
  };
};

const frontOf = async (
  run: Resource<'runs'>,
  workspace: Resource<'workspaces'> | undefined,
): Promise<Resource | undefined> => {
  const holder = related(workspace, 'locked-by');
  const isQueued = run.attributes.status === 'pending' && !run.attributes['plan-only'] && !run.attributes['save-plan'];
  if (!isQueued || !holder?.startsWith('run-') || holder === run.id) return undefined;
  // It may have been deleted meanwhile.
  const front = await get<'runs'>(`/runs/${holder}`).catch(() => undefined);
  // A finished run holds the lock because of its errored state, which the workspace shows.
  return front && !isOver(front) ? front : undefined;
};

/** Polls every `quickMs` for `soonMs` after Terraform's last output or a decision, because the status changes soon. */
const soonMs = 3_000;
const quickMs = 250;

/** One run: progress, changes and available actions. */
export const RunView = ({ run: id, organization }: OrganizationProps & { run: string }) => {
  const expected = useRef({ until: 0, status: '' });
  const live = useLive(
    `run/${id}`,
    () => load(id),
    ({ run }) => {
      const { until, status } = expected.current;
      const changes = Date.now() < until && run.attributes.status === status;
      return pollIntervalOf(run, changes ? quickMs : undefined);
    },
  );
  const soon = () => {
    expected.current = { until: Date.now() + soonMs, status: live.value?.run.attributes.status ?? '' };
    live.refresh();
  };
  const workspace = live.value?.workspace?.attributes.name as string | undefined;
  const shown = live.value && displayStatus(factsOf(live.value.run));
  return (
    <Page
      title={live.value ? `${shown?.name}: ${subjectOf(live.value.run)}` : id}
      tone={shown?.tone}
      organization={organization}
      crumbs={[
        ...(workspace
          ? [{ text: workspace, to: { view: 'workspace', organization, workspace, tab: 'runs' } } as const]
          : []),
        { text: id },
      ]}
      live={live}
      what="run"
    >
      {(parts) => <Run {...parts} organization={organization} refresh={soon} />}
    </Page>
  );
};

const Run = ({ organization, refresh, ...parts }: RunParts & OrganizationProps & { refresh(): void }) => {
  const { run, plan, apply, costEstimate, ingress, taskStages, workspace, front } = parts;
  const { attributes } = run;
  const words = wordsFor({ run, workspace, front, organization });
  const pool = awaitedPool(plan) ?? awaitedPool(apply);
  const error = useSignal<string | undefined>(undefined);
  // A decision is shown below the plan or policies that it concerns, and stays visible. Other actions are at the top.
  const stages = useTaskStages(run);
  const override = { path: overrideOf(run, taskStages), refresh };
  const decides = attributes.actions['is-confirmable'] || waitsForOverride(run);
  const failed = failedPart(run, taskStages);
  useEffect(() => {
    if (failed && hash.value.text === `#${failedFragment}`) setHash(failed.id);
  }, [hash.value, failed?.id]);
  const actions = (
    <RunActions
      run={run}
      plan={plan}
      workspace={workspace}
      front={front}
      words={words}
      error={error}
      refresh={refresh}
    />
  );
  return (
    <>
      <RunHead run={run} organization={organization} failed={failed?.id}>
        {!words && actions}
        <Retry run={run} workspace={workspace} organization={organization} />
      </RunHead>
      <Stages run={run} />
      {words && !decides && actions}
      {isOver(run) && error.value && <Notice kind="warn">{error.value}</Notice>}
      {pool && !isOver(run) && <NoAgents key={pool.id} pool={pool.id} organization={organization} />}
      <EndReason run={run} failed={failed} workspace={workspace} organization={organization} />
      <FailedChecks checks={attributes['failed-checks']} />
      {isOver(run) && workspace?.attributes.permissions['can-read-state-versions'] && (
        <ErroredState run={run} apply={apply} />
      )}
      <div class="sides">
        <div class="stack">
          <TaskStageView name="pre_plan" stages={stages} />
          <Phase name="plan" run={run} phase={plan} onEnd={refresh} />
          <TaskStageView name="post_plan" stages={stages} />
          <PolicyEvaluation run={run} stages={taskStages} override={override} />
          <CostEstimate estimate={costEstimate} />
          <PolicyCheck run={run} override={override} />
          <TaskStageView name="pre_apply" stages={stages} />
          {!attributes['plan-only'] && <Phase name="apply" run={run} phase={apply} onEnd={refresh} />}
          <TaskStageView name="post_apply" stages={stages} />
          {isOver(run) && <RunOutcome apply={apply} workspace={workspace} organization={organization} />}
          {decides && actions}
        </div>
        <aside class="stack" aria-label="About this run">
          <RunSettings run={run} plan={plan} ingress={ingress} />
          <Timeline run={run} />
        </aside>
      </div>
    </>
  );
};
