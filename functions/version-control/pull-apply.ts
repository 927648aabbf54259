import type { Granted } from '#api/permissions/granted.ts';
import { getRun } from '#resources/runs/records.ts';
import { heldBy } from '#resources/workspaces/document.ts';
import { getWorkspace, type Workspace } from '#resources/workspaces/records.ts';
import type { Pull, PullComment } from './forges/forge.ts';
import { pullForges } from './forges/pull-forges.ts';
import type { Handling, Outcome } from './handling.ts';
import { hold, release } from './merge-locks.ts';
import { getPullRun } from './pull-records.ts';

/**
 * Applies the plans of a pull request before its merge: only a plan that was saved before the comment, of the commit
 * that is still the newest.
 */

interface ApplyRequest {
  userId: string;
  /** Name of one workspace; absent: all with a plan. */
  workspace: string | undefined;
  granted(workspaceId: string): Granted;
}

interface Applying {
  handling: Handling;
  comment: PullComment;
  pull: Pull;
  request: ApplyRequest;
}

const holdFor = async (workspace: Workspace, { handling, comment, request }: Applying): Promise<string | undefined> => {
  const { repository } = handling;
  if (await hold(workspace.id, { repository: repository.id, number: comment.number }, request.userId)) return undefined;
  const current = await getWorkspace(workspace.id);
  return `#${(current && heldBy(current)) ?? '?'} was applied to it and is not merged yet`;
};

/** The workspace's requirement that the pull request does not meet; undefined when it meets all. */
const lacks = async (
  { applyBeforeMergeRequirements = [] }: Workspace,
  { handling, pull }: Applying,
): Promise<string | undefined> => {
  const { access, repository } = handling;
  if (applyBeforeMergeRequirements.includes('mergeable') && !pull.mergeable) {
    return pull.mergeable === null
      ? 'whether the pull request can be merged is not known yet; comment again in a moment'
      : 'the pull request cannot be merged: resolve its conflicts first';
  }
  if (!applyBeforeMergeRequirements.includes('approved')) return undefined;
  const approved = await pullForges[repository.dialect].isApproved(access.call, repository.identifier, pull);
  return approved ? undefined : 'the newest commit of the pull request is not approved';
};

/** Undefined when its plan is being applied, otherwise the reason why not. */
const applyIn = async (workspace: Workspace, applying: Applying): Promise<string | undefined> => {
  const { handling, comment, pull, request } = applying;
  const { headSha } = pull;
  const { repository, orchestration } = handling;
  if (!request.granted(workspace.id).has('run:apply')) return `${comment.author} may not apply there`;
  const lacking = await lacks(workspace, applying);
  if (lacking) return lacking;
  const row = await getPullRun(repository.id, comment.number, workspace.id);
  const run = row && (await getRun(row.runId));
  if (!run?.savePlan || run.commit?.sha !== headSha) return 'its newest commit has no plan that can be applied';
  if (run.decision?.action === 'apply' && run.decision.by === request.userId) return undefined;
  if (run.status !== 'planned_and_saved') return `its run is ${run.status.replaceAll('_', ' ')}`;
  const savedAt = run.statusTimestamps['planned-and-saved-at'] ?? '';
  // Forges' timestamps have a precision of one second.
  if (!savedAt || Date.parse(savedAt) > Date.parse(comment.createdAt) + 999) {
    return 'its plan was saved after the comment; read it, then comment again';
  }
  const before = heldBy(workspace);
  const refused = await holdFor(workspace, applying);
  if (refused) return refused;
  const result = await orchestration.applyPlan(run, request.userId);
  if (result === 'accepted') return undefined;
  if (before === undefined) await release(workspace.id, { repository: repository.id, number: comment.number });
  return result === 'stale' ? 'its state has changed since; comment "stepform plan"' : 'its run was decided meanwhile';
};

const reasonsOf = (outcomes: (readonly [Workspace, string | undefined])[]): string =>
  outcomes.flatMap(([{ name }, why]) => (why ? [`${name}: ${why}`] : [])).join('; ');

export const applyPull = async (handling: Handling, comment: PullComment, request: ApplyRequest): Promise<Outcome> => {
  const { access, repository, followers } = handling;
  const name = `#${comment.number} of ${repository.identifier}`;
  const pull = await pullForges[repository.dialect].pull(access.call, repository.identifier, comment.number);
  if (!pull?.open || pull.fromFork)
    return { message: `Skipped: ${name} is closed, comes from a fork, or was pushed without a branch` };
  const enabled = followers.filter(
    (one) => one.applyBeforeMergeEnabled && (request.workspace === undefined || request.workspace === one.name),
  );
  const planned: Workspace[] = [];
  for (const one of enabled) if (await getPullRun(repository.id, comment.number, one.id)) planned.push(one);
  if (planned.length === 0) return { message: `Skipped: ${name} has no plan that can be applied before the merge` };
  const applying = { handling, comment, pull, request };
  const outcomes: (readonly [Workspace, string | undefined])[] = [];
  for (const one of planned) outcomes.push([one, await applyIn(one, applying)]);
  const applied = outcomes.filter(([, why]) => why === undefined).map(([one]) => one.name);
  const reasons = reasonsOf(outcomes);
  const words =
    applied.length > 0 ? `Applying ${name} to ${applied.join(', ')} for ${comment.author}` : `Skipped ${name}`;
  return { message: reasons ? `${words}. Not applied: ${reasons}` : words };
};
