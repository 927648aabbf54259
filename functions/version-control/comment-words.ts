import type { Run } from '#run/run.ts';
import { statuses } from '#run/status.ts';
import { commitPage } from './commit-records.ts';
import { ofRun, rankOf } from './status-words.ts';

/**
 * Text of the comment on a pull request about the runs of its newest commit: counts, costs and the policies' verdict.
 * Like statuses, it contains no values, addresses or errors, because readers of the repository may lack permission to
 * read the workspace.
 */

/** Invisible marker by which the platform recognizes its own comment. */
export const markerOf = (organization: string): string => `<!-- stepform:${organization} -->`;

/** Forges accept some 65,000 characters. */
const maxRows = 200;

const costOf = ({ costEstimate }: Run): string => {
  if (costEstimate?.status !== 'finished') return '';
  const { deltaMonthlyCost = '0', proposedMonthlyCost = '0' } = costEstimate;
  const [amount, total] = [Number(deltaMonthlyCost), Number(proposedMonthlyCost).toFixed(2)];
  return `${amount < 0 ? '−' : '+'}$${Math.abs(amount).toFixed(2)} ($${total} a month)`;
};

const policiesOf = ({ verdicts, overrides }: Run): string => {
  const all = [
    overrides?.policyEvaluation ? 'overridden' : verdicts?.policyEvaluation,
    overrides?.policyCheck ? 'overridden' : verdicts?.policyCheck,
  ].filter((verdict) => verdict !== undefined);
  if (all.length === 0) return '';
  if (all.every((verdict) => verdict === 'passed')) return 'passed';
  return all.some((verdict) => verdict !== 'passed' && verdict !== 'overridden') ? 'failed' : 'overridden';
};

/** The apply of a saved plan, once it was confirmed; undefined before. */
const applyWords = ({ status }: Run): string | undefined => {
  const { commit, tone, label } = statuses[status];
  if (status === 'applied') return label;
  return commit === null && tone === 'running' ? 'Applying' : undefined;
};

/** Shows only "Running" while the run is in progress, because each further step would be an edit. */
const planOf = (run: Run): string => {
  const { state, description } = ofRun(run);
  const applied = applyWords(run);
  if (applied && run.savePlan) return `${applied}: ${description.replace(/^Plan: /, '')}`;
  if (run.savePlan && run.status === 'errored' && run.plan.status === 'finished') return 'Apply failed';
  return state === 'pending' && !statuses[run.status].overrides ? 'Running' : description.replace(/^Plan: /, '');
};

/** @param base URL of the organization's pages */
export const commentOf = (
  runs: Run[],
  { organization, identifier, sha, base }: { organization: string; identifier: string; sha: string; base: string },
): string => {
  const ranked = runs
    .map((run) => ({ run, rank: rankOf(ofRun(run)) }))
    .sort((a, b) => a.rank - b.rank || (a.run.workspaceName < b.run.workspaceName ? -1 : 1))
    .map(({ run }) => run);
  const columns = [
    {
      name: 'Workspace',
      of: ({ workspaceName, id }: Run) => `[\`${workspaceName}\`](${base}/workspaces/${workspaceName}/runs/${id})`,
    },
    { name: 'Plan', of: planOf },
    { name: 'Cost', of: costOf },
    { name: 'Policies', of: policiesOf },
  ].filter(({ name, of }) => name === 'Workspace' || runs.some((run) => of(run)));
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  const rows = ranked.slice(0, maxRows).map((run) => line(columns.map(({ of }) => of(run))));
  const more =
    runs.length > maxRows
      ? [``, `And ${runs.length - maxRows} more: [all runs](${base}${commitPage({ identifier, sha })}).`]
      : [];
  return [
    markerOf(organization),
    `**${base.split('/').at(-1)}**: plans of \`${sha.slice(0, 7)}\``,
    '',
    line(columns.map(({ name }) => name)),
    line(columns.map(() => '---')),
    ...rows,
    ...more,
    ...(runs.some(({ savePlan }) => savePlan) ? ['', 'Comment `stepform apply` to apply before the merge.'] : []),
  ].join('\n');
};
