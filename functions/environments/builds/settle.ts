import { update } from '#platform/store/table.ts';
import { deleteWorkspace } from '#removal/workspaces.ts';
import { getRun } from '#resources/runs/records.ts';
import type { StateInstance } from '#resources/states/content.ts';
import { getStateVersion, readSummary } from '#resources/states/records.ts';
import { getWorkspace, type Workspace } from '#resources/workspaces/records.ts';
import type { Run } from '#run/run.ts';
import { recordEnd } from '../audit/build-record.ts';
import { type Outcome, outcomeOf } from '../jobs.ts';
import { keys } from '../keys.ts';
import { countBuild } from '../metrics/records.ts';
import { wakePool } from '../prebuilds/pool.ts';
import { isHidden, resourcesIn, type TemplateResource } from '../templates/plan.ts';
import { readPlan } from '../templates/read-plan.ts';
import { getAnyTemplate, type Template } from '../templates/records.ts';
import { dueChange, nextDue } from '../workspaces/due.ts';
import { type Environment, forgetEnvironment, getAnyEnvironment, noteDeletion } from '../workspaces/records.ts';
import { deadlinesFrom } from '../workspaces/schedule.ts';
import { type Build, completeBuild, getBuild } from './records.ts';

/** Completes builds whose run has ended. Every reader of a build calls this, and it can be repeated. */

const wasDone = ({ error, canceledAt }: Outcome, run: Run | undefined): boolean =>
  !error && (!canceledAt || run?.status === 'applied' || run?.status === 'planned_and_finished');

const named = ({ type, name }: Pick<StateInstance, 'type' | 'name'>): string => `${type}.${name}`;

/** Resources in the state, with their attributes from the plan. */
const resourcesOf = async (run: Run, stateVersionId: string | undefined): Promise<TemplateResource[]> => {
  const [planned, version] = await Promise.all([
    readPlan(run)
      .then(resourcesIn)
      .catch(() => []),
    stateVersionId ? getStateVersion(stateVersionId) : undefined,
  ]);
  const instances = (version && (await readSummary(version))?.instances) ?? [];
  const byName = new Map(planned.map((resource) => [named(resource), resource]));
  return instances
    .filter(({ type }) => !isHidden(type))
    .map(
      ({ type, name }): TemplateResource =>
        byName.get(named({ type, name })) ?? { type, name, hide: false, icon: '', dailyCost: 0, metadata: [] },
    );
};

const daysOfMonth = 30;

/** Undefined when the organization has no estimates, or the template declares the costs itself. */
const estimatedCost = ({ costEstimate }: Run, resources: TemplateResource[]): number | undefined => {
  if (costEstimate?.status !== 'finished' || resources.some(({ dailyCost }) => dailyCost)) return undefined;
  return Math.ceil(Number(costEstimate.proposedMonthlyCost ?? 0) / daysOfMonth);
};

const interruptedNote = (run: Run, workspace: Workspace | undefined): Build['note'] => {
  if (run.apply.status === 'pending' || run.apply.status === 'unreachable') return undefined;
  const recorded = workspace?.state?.resources ?? 0;
  const planned = run.plan.report?.resourcesAfter;
  const count = planned === undefined ? `${recorded} resources` : `${recorded} of ${planned} resources`;
  const serial = workspace?.state ? ` (serial ${workspace.state.serial})` : '';
  return {
    level: 'warn',
    text: `Interrupted. State kept: ${count} recorded${serial}. The next build continues from it.`,
  };
};

/** Warns when a claim replaces resources of a prebuild, which defeats its purpose. */
const replacementNote = async ({ prebuild }: Build, run: Run): Promise<Build['note']> => {
  if (prebuild !== 'claim') return undefined;
  const { resource_changes: changes = [] } = await readPlan(run).catch(() => ({ resource_changes: [] }));
  const replaced = changes.filter(
    ({ change: { actions } }) => actions.includes('delete') && actions.includes('create'),
  );
  if (replaced.length === 0) return undefined;
  const names = replaced.map(({ address }) => address).join(', ');
  const text = `Claiming the prebuilt workspace replaced ${names}. To keep them, make them independent of the owner or ignore the change.`;
  return { level: 'warn', text };
};

/** Releases the environment for another build; the current build is completed later. Can be repeated. */
const freeEnvironment = async (build: Build, isDeleted: boolean, due?: number): Promise<Environment | undefined> => {
  const { set, remove } = dueChange(build.environmentId, isDeleted ? undefined : due);
  const at = new Date().toISOString();
  return update<Environment>(keys.environment(build.environmentId), {
    set: { ...set, updatedAt: at, deletedAt: isDeleted ? at : undefined },
    remove: ['activeBuildId', ...remove],
    condition: 'activeBuildId = :build',
    values: { ':build': build.id },
  });
};

/** Deletes the workspace; states stay readable through the builds. Can be repeated. */
const endEnvironment = async (environment: Environment, workspace: Workspace | undefined, by: string) => {
  if (workspace) await deleteWorkspace(workspace, { by, force: true });
  await noteDeletion(environment);
  await forgetEnvironment(environment);
};

/** Completes the build. Can be repeated. */
const end = async (
  environment: Environment,
  build: Build,
  set: Partial<Build>,
  template: Template | undefined,
): Promise<Build> => {
  const completed = await completeBuild(build.id, set);
  const ended = completed ?? (await getBuild(build.id)) ?? build;
  await recordEnd(ended, environment);
  // Only the reader that completes the build counts it: others can do so in the same millisecond.
  if (template && completed) await countBuild(ended, environment, template);
  return ended;
};

const complete = async (build: Build, run: Run, outcome: Outcome): Promise<Build> => {
  const environment = await getAnyEnvironment(build.environmentId);
  if (!environment) return build;
  const workspace = await getWorkspace(environment.workspaceId);
  const done = wasDone(outcome, run);
  const stateVersionId = workspace?.state?.id ?? build.stateVersionId;
  const isInterrupted = outcome.canceledAt !== undefined || (outcome.error !== undefined && run.cancel !== undefined);
  const note = isInterrupted ? interruptedNote(run, workspace) : await replacementNote(build, run);
  const resources = await resourcesOf(run, stateVersionId);
  const runs = done && build.transition === 'start' && !environment.prebuild;
  const template = await getAnyTemplate(environment.templateId);
  const deadlines = runs && template ? deadlinesFrom(environment, template, Date.parse(outcome.completedAt)) : {};
  const isDeleted = done && build.transition === 'delete';
  const dailyCost = done ? estimatedCost(run, resources) : undefined;
  const set: Partial<Build> = {
    ...outcome,
    stateVersionId,
    resources,
    dailyCost,
    ...deadlines,
    note,
  };
  const due = template && nextDue(environment, template, { ...build, ...set });
  await freeEnvironment(build, isDeleted, due);
  if (isDeleted) await endEnvironment(environment, workspace, build.initiatorId);
  if (build.prebuild) await wakePool(environment.templateId);
  return end(environment, build, set, template);
};

/** The build's current state. 1 read of its run until it is complete. */
export const settleBuild = async (build: Build): Promise<{ build: Build; run: Run | undefined }> => {
  const [runId] = build.runIds;
  const run = runId ? await getRun(runId) : undefined;
  if (build.completedAt || !run) return { build, run };
  const outcome = outcomeOf(build, [run]);
  return outcome ? { build: await complete(build, run, outcome), run } : { build, run };
};

/** For a build without a run: an orphaned environment, or one without a state. */
export const completeWithoutRun = async (build: Build, environment: Environment): Promise<Build> => {
  const at = new Date().toISOString();
  const workspace = await getWorkspace(environment.workspaceId);
  const remaining = workspace?.state?.resources ?? 0;
  const text =
    build.withoutRun === 'orphan'
      ? `Resources are kept: ${remaining} resources of the last state are no longer managed.`
      : 'The terraform state does not exist, there is nothing to do';
  await freeEnvironment(build, true);
  await endEnvironment(environment, workspace, build.initiatorId);
  if (build.prebuild) await wakePool(environment.templateId);
  const set: Partial<Build> = { startedAt: at, completedAt: at, note: { level: 'info', text }, resources: [] };
  return end(environment, build, set, await getAnyTemplate(environment.templateId));
};
