import { type Resource, relatedIds } from '#clients/client/client.ts';
import { tasksOf } from '#clients/client/run-facts.ts';
import { useLive } from '#clients/web/live.ts';
import { Duration } from '#clients/web/parts/basics.tsx';
import { Tags } from '#clients/web/parts/list.tsx';
import { ExternalLink } from '#clients/web/parts/markdown.tsx';
import { Fold } from '#clients/web/parts/section.tsx';
import { call } from '#clients/web/session.ts';
import { safeHref } from '#clients/web/text/inline.ts';
import type { TaskStage } from '#run/check-record.ts';
import { isResultFinal, type TaskResultStatus, type TaskStageStatus } from '#run/task-stages.ts';
import { Outcomes } from '../policies/outcomes.tsx';

/** Results of run tasks, by stage. */

export interface ShownStage {
  stage: Resource<'task-stages'>;
  results: Resource<'task-results'>[];
}

const isOpen = (status: TaskStageStatus): boolean => status === 'awaiting_override' || !isResultFinal(status);

const load = async (run: Resource<'runs'>): Promise<ShownStage[]> => {
  const { data, included = [] } = await call<Resource[]>('GET', `/runs/${run.id}/task-stages?include=task_results`);
  const byId = new Map(included.map((resource) => [resource.id, resource]));
  return data.map((stage) => {
    return { stage, results: relatedIds(stage, 'task-results').flatMap((id) => byId.get(id) ?? []) };
  });
};

/** Polls the run's task stages; a run without any makes no request. */
export const useTaskStages = (run: Resource<'runs'>): ShownStage[] => {
  const has = relatedIds(run, 'task-stages').length > 0;
  const live = useLive(
    `task-stages/${run.id}`,
    async () => (has ? load(run) : []),
    (stages) => {
      const statuses = stages.map(({ stage }) => stage.attributes.status as TaskStageStatus);
      if (statuses.includes('running')) return 1_000;
      return statuses.some(isOpen) ? 3_000 : undefined;
    },
  );
  return live.value ?? [];
};

const titles: Record<TaskStage, string> = {
  pre_plan: 'Pre-plan tasks',
  post_plan: 'Post-plan tasks',
  pre_apply: 'Pre-apply tasks',
  post_apply: 'Post-apply tasks',
};

const words: Record<TaskStageStatus, string> = {
  pending: 'not started',
  running: 'running',
  passed: 'passed',
  failed: 'failed',
  errored: 'failed',
  canceled: 'canceled',
  unreachable: 'not reached',
  awaiting_override: 'waiting for a decision',
};

const tones: Record<TaskResultStatus, string> = {
  pending: 'waiting',
  running: 'running',
  passed: 'good',
  failed: 'bad',
  errored: 'bad',
  canceled: '',
  unreachable: '',
};

const resultWords: Record<TaskResultStatus, string> = {
  pending: 'Pending',
  running: 'Running',
  passed: 'Passed',
  failed: 'Failed',
  errored: 'Errored',
  canceled: 'Canceled',
  unreachable: 'Not reached',
};

/** The task stage of that name, if the run has it. */
export const TaskStageView = ({ name, stages }: { name: TaskStage; stages: ShownStage[] }) => {
  const match = stages.find(({ stage }) => stage.attributes.stage === name);
  if (!match || match.results.length === 0) return null;
  const { stage, results } = match;
  const status = stage.attributes.status as TaskStageStatus;
  const at = stage.attributes['status-timestamps'] as Record<string, string>;
  const amiss = results.some(({ attributes }) => ['failed', 'errored'].includes(attributes.status));
  const passed = results.filter(({ attributes }) => attributes.status === 'passed').length;
  return (
    <Fold
      id={tasksOf(name)}
      title={titles[name]}
      status={
        <>
          {/* A stage also waits for policies, which are shown separately. */}
          {status === 'awaiting_override' && !amiss ? words.passed : words[status]}
          {at['running-at'] && (
            <>
              {' · '}
              <Duration from={at['running-at']} to={at[`${status}-at`]} />
            </>
          )}
        </>
      }
      summary={
        <span class="soft small nowrap">
          {passed} of {results.length} passed
        </span>
      }
      open={isOpen(status) || amiss}
      unfolds={status !== 'pending' && status !== 'unreachable'}
    >
      {() => (
        <ul class="task-results">
          {results.map((result) => (
            <Result key={result.id} result={result} />
          ))}
        </ul>
      )}
    </Fold>
  );
};

const Result = ({ result }: { result: Resource<'task-results'> }) => {
  const { attributes } = result;
  const status = attributes.status as TaskResultStatus;
  const href = attributes.url ? safeHref(attributes.url) : undefined;
  return (
    <li class="stack">
      <div class="row spread">
        <span>
          <strong>{attributes['task-name']}</strong> <Tags of={[attributes['workspace-task-enforcement-level']]} />
        </span>
        <span class={`status ${tones[status]}`}>{resultWords[status]}</span>
      </div>
      {(attributes.message || href) && (
        <p class="break">
          {attributes.message} {href && <ExternalLink href={href}>Details of {attributes['task-name']}</ExternalLink>}
        </p>
      )}
      {attributes['task-result-outcomes-count'] > 0 && <Outcomes result={result} />}
    </li>
  );
};
