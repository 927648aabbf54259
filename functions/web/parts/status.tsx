import type { Resource } from '../../cli/client.ts';
import { displayStatus, type StatusFacts } from '../../run/display.ts';
import type { StageFacts } from '../../run/stages.ts';
import { isFinal } from '../../run/status.ts';

/** What the decisions of `functions/run` are made from, out of the API's run document. */
export const factsOf = ({ attributes }: Resource): StatusFacts & StageFacts => ({
  status: attributes.status,
  confirmable: attributes.actions['is-confirmable'],
  autoApply: attributes['auto-apply'],
  planOnly: attributes['plan-only'],
  statusTimestamps: attributes['status-timestamps'],
});

export const Status = ({ run }: { run: Resource }) => {
  const { name, tone } = displayStatus(factsOf(run));
  return <span class={`status ${tone}`}>{name}</span>;
};

/** When the run came into its present status. */
export const since = ({ attributes }: Resource): string =>
  Object.values(attributes['status-timestamps'] as Record<string, string>)
    .sort()
    .at(-1) ?? attributes['created-at'];

export const isOver = ({ attributes }: Resource): boolean => isFinal(attributes.status);

/** How soon to ask again: never once nothing can change. */
export const paceOf = (run: Resource, ms = 750): number | undefined => (isOver(run) ? undefined : ms);

const kinds: Record<string, string> = {
  plan_only: 'plan only',
  save_plan: 'saved plan',
  destroy: 'destroy',
  refresh_only: 'refresh only',
  empty_apply: 'empty apply',
};

/** What is special about the run; undefined for plan and apply. */
export const kindOf = ({ attributes: run }: Resource): string | undefined => {
  if (run['plan-only']) return run['is-destroy'] ? 'plan only, destroy' : kinds.plan_only;
  if (run['save-plan']) return kinds.save_plan;
  if (run['is-destroy']) return kinds.destroy;
  if (run['refresh-only']) return kinds.refresh_only;
  return run['allow-empty-apply'] ? kinds.empty_apply : undefined;
};

const sources: Record<string, string> = {
  'tfe-api': 'the API',
  'tfe-ui': 'this page',
  'tfe-configuration-version': 'an uploaded configuration',
  'terraform+cloud': 'the command line',
  terraform: 'the command line',
};

export const sourceOf = ({ attributes }: Resource): string => sources[attributes.source] ?? attributes.source;
