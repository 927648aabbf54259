import { getBuilds } from '../builds/records.ts';
import { getAnyEnvironment } from '../workspaces/records.ts';
import { environmentsOf } from './records.ts';
import type { Version } from './versions.ts';

/** Versions that environments were last built with. */

/** Of a template. A read for each environment. */
export const usedVersions = async (templateId: string): Promise<Set<string>> => {
  const environments = await Promise.all((await environmentsOf(templateId)).map(getAnyEnvironment));
  const builds = await getBuilds(environments.flatMap((one) => (one && !one.deletedAt ? [one.latestBuildId] : [])));
  return new Set([...builds.values()].map(({ versionId }) => versionId));
};

export const isVersionUsed = async ({ id, templateId }: Version): Promise<boolean> =>
  templateId !== undefined && (await usedVersions(templateId)).has(id);
