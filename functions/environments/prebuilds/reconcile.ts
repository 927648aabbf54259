import { randomBytes } from 'node:crypto';
import { decide as decideRun } from '#lifecycle/decisions/decisions.ts';
import { logError } from '#platform/store/log.ts';
import { deleteWorkspace } from '#removal/workspaces.ts';
import { getDrain } from '#resources/workspaces/drain.ts';
import { getWorkspace } from '#resources/workspaces/records.ts';
import { isAccepted } from '#run/actions.ts';
import { build } from '../builds/create.ts';
import { ParameterError, resolveParameters } from '../builds/parameters.ts';
import { type Build, getBuild } from '../builds/records.ts';
import { settleBuild } from '../builds/settle.ts';
import { CoderError } from '../host/errors.ts';
import { prebuildsUser } from '../host/uuid.ts';
import { type JobStatus, jobStatus } from '../jobs.ts';
import type { Preset } from '../templates/plan.ts';
import type { Template } from '../templates/records.ts';
import { getFound, getVersion, type Version } from '../templates/versions.ts';
import { firstBuild, insertEnvironment } from '../workspaces/insert.ts';
import { type Environment, forgetEnvironment } from '../workspaces/records.ts';
import { backoffUntil, type Decision, decide, type Member, type MemberState, retire } from './decide.ts';
import {
  endLease,
  enterPool,
  getPresetRecord,
  hasPool,
  isPaused,
  listPool,
  type PresetRecord,
  setFailures,
  takeLease,
} from './pool.ts';

/** Adjusts pools to their presets: after each change, and every few minutes. */

interface Pooled extends Member {
  environment: Environment;
  build: Build;
}

const stateOfStart: Record<JobStatus, MemberState> = {
  pending: 'pending',
  running: 'starting',
  canceling: 'starting',
  succeeded: 'running',
  canceled: 'failed',
  failed: 'failed',
};

const stateOf = ({ transition }: Build, status: JobStatus): MemberState => {
  const state = stateOfStart[status];
  return transition === 'delete' && state !== 'failed' ? 'deleting' : state;
};

/** Removes an environment whose creation was interrupted before its first build. */
const abandon = async (environment: Environment): Promise<void> => {
  const workspace = await getWorkspace(environment.workspaceId);
  if (workspace) await deleteWorkspace(workspace, { by: prebuildsUser.id, force: true });
  await forgetEnvironment(environment);
};

const memberOf = async (environment: Environment): Promise<Pooled[]> => {
  const latest = await getBuild(environment.latestBuildId);
  if (!latest) {
    await abandon(environment);
    return [];
  }
  const { build: settled, run } = await settleBuild(latest);
  const state = stateOf(settled, jobStatus(settled, run ? [run] : []));
  return [{ id: environment.id, createdAt: environment.createdAt, state, environment, build: settled }];
};

/** Failed builds since the newest successful one. Can be repeated. */
const failuresOf = ({ failures }: PresetRecord, members: readonly Pooled[]): PresetRecord['failures'] => {
  const running = members.filter(({ state }) => state === 'running');
  const best = Math.max(...running.map(({ createdAt }) => Date.parse(createdAt)));
  const all = new Map(failures.map((failure) => [failure.id, failure]));
  for (const { build: latest, state } of members) {
    if (state !== 'failed' || latest.transition !== 'start' || latest.canceledAt) continue;
    all.set(latest.id, { id: latest.id, at: Date.parse(latest.completedAt ?? latest.createdAt) });
  }
  return [...all.values()].filter(({ at }) => at > best).sort((a, b) => a.at - b.at);
};

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';

const newName = (): string => `prebuild-${[...randomBytes(15)].map((byte) => alphabet[byte % 32]).join('')}`;

const add = async (template: Template, version: Version, preset: Preset): Promise<void> => {
  const { parameters } = await getFound(version.id);
  const values = resolveParameters({ parameters, requested: [], preset });
  const settings = { prebuild: { presetId: preset.id, versionId: version.id } };
  const by = template.createdBy;
  const inserted = await insertEnvironment(
    { template, name: newName(), owner: prebuildsUser, settings, by },
    enterPool,
  );
  if (typeof inserted === 'string') return;
  await firstBuild(inserted, by, {
    transition: 'start',
    template,
    version,
    parameters: values,
    presetId: preset.id,
    reason: 'initiator',
    initiator: prebuildsUser,
  });
};

const take = async (template: Template, { environment, build: latest }: Pooled): Promise<void> => {
  await build(environment, {
    transition: 'delete',
    template,
    // A version is deleted only with its organization.
    version: (await getVersion(latest.versionId)) as Version,
    parameters: latest.parameters,
    reason: 'initiator',
    initiator: prebuildsUser,
  });
};

const cancel = async ({ build: latest }: Pooled, by: string): Promise<void> => {
  const { run } = await settleBuild(latest);
  if (run && isAccepted('cancel', run)) {
    await decideRun(run, 'cancel', by, 'The template has another active version');
  }
};

/** Logs errors; the next pass retries. */
const attempt = async (action: string, work: () => Promise<void>): Promise<void> => {
  try {
    await work();
  } catch (error) {
    // Another build is active, the workspace is locked, or the quota is not sufficient.
    if (error instanceof CoderError) return;
    logError(action, error, error instanceof ParameterError ? { parameter: error.parameter } : {});
  }
};

const carryOut = async (
  { remove, cancel: pending }: Decision,
  members: readonly Pooled[],
  template: Template,
): Promise<void> => {
  for (const member of members) {
    if (remove.includes(member.id)) await attempt('prebuild not deleted', () => take(template, member));
    if (pending.includes(member.id)) await attempt('prebuild not canceled', () => cancel(member, template.createdBy));
  }
};

const activeVersion = async (template: Template): Promise<Version | undefined> =>
  template.deletedAt || template.deprecationMessage ? undefined : getVersion(template.activeVersionId);

const busySeconds = 60;
const restSeconds = 600;

/** @returns seconds until the next pass; undefined when none is needed */
const pass = async (template: Template): Promise<number | undefined> => {
  const version = await activeVersion(template);
  const presets = version ? (await getFound(version.id)).presets.filter(hasPool) : [];
  const members = (await Promise.all((await listPool(template.id, { tidy: true })).map(memberOf))).flat();
  if (presets.length === 0 && members.length === 0) return undefined;
  if ((await isPaused(template.organization)) || (await getDrain())) return restSeconds;
  const of = (presetId: string) => members.filter(({ environment }) => environment.prebuild?.presetId === presetId);
  const ids = new Set(presets.map(({ id }) => id));
  const old = members.filter(({ environment }) => !ids.has(environment.prebuild?.presetId ?? ''));
  await carryOut(retire(old), old, template);
  let isBusy = old.length > 0;
  for (const preset of presets) {
    const own = of(preset.id);
    const before = await getPresetRecord(template.id, preset.id);
    const record = { ...before, failures: failuresOf(before, own) };
    if (JSON.stringify(before.failures) !== JSON.stringify(record.failures)) {
      await setFailures(template.id, preset.id, record.failures);
    }
    const decision = decide(preset, record, own, Date.now());
    await carryOut(decision, own, template);
    for (let n = 0; n < decision.create; n++) {
      await attempt('prebuild not created', () => add(template, version as Version, preset));
    }
    const rests = backoffUntil(record, Date.now()) > Date.now() && !decision.isLimited;
    isBusy ||= decision.create > 0 || rests || own.some(({ state }) => state !== 'running');
    isBusy ||= preset.scheduled !== undefined || preset.ttlMs !== undefined;
  }
  return isBusy ? busySeconds : restSeconds;
};

/** One pass at a time per template. Can be repeated. */
export const reconcile = async (templateId: string): Promise<void> => {
  const template = await takeLease(templateId);
  if (!template) return;
  let seconds: number | undefined = busySeconds;
  try {
    seconds = await pass(template);
  } finally {
    await endLease(template, seconds);
  }
};
