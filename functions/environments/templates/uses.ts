import { getBuilds } from '../builds/records.ts';
import { getAnyEnvironment } from '../workspaces/records.ts';
import { environmentsOf } from './records.ts';
import type { Version } from './versions.ts';

/** Versions of the environments' latest builds. */

/** Version ids in use. 1 read per environment of the template. */
export const usedVersions = async (templateId: string): Promise<Set<string>> => {
  const environments = await Promise.all((await environmentsOf(templateId)).map(getAnyEnvironment));
  const builds = await getBuilds(
    environments.flatMap((environment) => (environment && !environment.deletedAt ? [environment.latestBuildId] : [])),
  );
  return new Set([...builds.values()].map(({ versionId }) => versionId));
};

export const isVersionUsed = async ({ id, templateId }: Version): Promise<boolean> =>
  templateId !== undefined && (await usedVersions(templateId)).has(id);
