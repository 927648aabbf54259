import { releaseUnique } from '#platform/store/unique-names.ts';
import { build } from '../builds/create.ts';
import type { Value } from '../builds/parameters.ts';
import { type Build, getBuilds } from '../builds/records.ts';
import { CoderError } from '../host/errors.ts';
import { prebuildsUser } from '../host/uuid.ts';
import { keys } from '../keys.ts';
import type { Preset } from '../templates/plan.ts';
import type { Template } from '../templates/records.ts';
import type { Version } from '../templates/versions.ts';
import { claimName, type Environment, releaseName } from '../workspaces/records.ts';
import { leavePool, listPool, wakePool } from './pool.ts';

/** Hands over a prebuild: one write sets its owner, its name, and the build that adapts it to the owner. */

export interface Claim {
  template: Template;
  version: Version;
  preset: Preset;
  parameters: Value[];
  owner: { id: string; username: string };
  name: string;
  settings: Pick<Environment, 'automaticUpdates' | 'autostartSchedule' | 'ttlMs'>;
  initiator: { id: string; username: string };
}

const isReady = (latest: Build | undefined): boolean =>
  latest?.transition === 'start' && !latest.error && !latest.canceledAt;

const ready = async ({ template, version, preset }: Claim): Promise<Environment[]> => {
  const pool = (await listPool(template.id)).filter(
    ({ prebuild, activeBuildId }) =>
      !activeBuildId && prebuild?.presetId === preset.id && prebuild.versionId === version.id,
  );
  const latest = await getBuilds(pool.map(({ latestBuildId }) => latestBuildId));
  return pool.filter(({ latestBuildId }) => isReady(latest.get(latestBuildId)));
};

/** @returns false when another claim succeeded first, or the workspace is locked */
const take = async (candidate: Environment, claim: Claim): Promise<boolean> => {
  const { owner, name, settings, template, version, parameters, preset, initiator } = claim;
  const at = new Date().toISOString();
  try {
    await build(candidate, {
      transition: 'start',
      template,
      newOwnerId: owner.id,
      version,
      parameters,
      presetId: preset.id,
      reason: 'initiator',
      initiator,
      prebuild: 'claim',
      change: {
        set: { ...settings, ownerId: owner.id, ownerName: owner.username, name, lastUsedAt: at, claimedAt: at },
        remove: ['prebuild'],
      },
    });
    return true;
  } catch (error) {
    if (error instanceof CoderError) return false;
    throw error;
  }
};

/**
 * Claims the oldest prebuild; undefined when the pool is empty.
 * @throws {CoderError} 409 `taken` when the owner already has an environment with this name
 */
export const claimPrebuild = async (claim: Claim, nameTaken: () => CoderError): Promise<string | undefined> => {
  const { owner, name, template } = claim;
  for (const candidate of await ready(claim)) {
    if (!(await claimName(owner.id, name, candidate.id))) throw nameTaken();
    if (!(await take(candidate, claim))) {
      await releaseName(owner.id, name, candidate.id);
      continue;
    }
    await Promise.all([
      leavePool(candidate),
      releaseUnique(keys.environmentName(prebuildsUser.id, candidate.name), candidate.id),
      wakePool(template.id),
    ]);
    return candidate.id;
  }
  return undefined;
};
