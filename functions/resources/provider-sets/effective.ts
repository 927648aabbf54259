import { getObject, putObject } from '#platform/store/bucket.ts';
import { objects } from '#platform/store/keys.ts';
import type { Organization } from '#resources/organizations/records.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import type { JobProviderSet } from '#run/protocols/runner.ts';
import { rankOfSet } from '#run/provider-sets.ts';
import { listProviderSets, type ProviderSet } from './records.ts';

/** Provider sets of a workspace; those of a run are fixed at its creation. */

type Home = Pick<Workspace, 'id' | 'organization' | 'projectId'>;

const rankIn = ({ priority, global, workspaceIds, projectIds }: ProviderSet, { id, projectId }: Home) =>
  rankOfSet(priority, {
    global,
    ofProject: projectIds?.has(projectId) ?? false,
    ofWorkspace: workspaceIds?.has(id) ?? false,
  });

/** In order of precedence, then by name. */
export const effectiveProviderSets = async (home: Home): Promise<ProviderSet[]> =>
  (await listProviderSets(home.organization))
    .map((set) => ({ set, rank: rankIn(set, home) }))
    .filter(({ rank }) => rank !== undefined)
    .sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0))
    .map(({ set }) => set);

/** The first set for each provider; the others have no effect. */
const chosenFrom = (sets: ProviderSet[]): JobProviderSet[] => {
  const chosen = new Map<string, JobProviderSet>();
  for (const { name, providerSource: source, configurationHcl: configuration, content } of sets) {
    if (!chosen.has(source)) chosen.set(source, { name, source, configuration, ...content });
  }
  return [...chosen.values()];
};

type Flagged = Pick<Organization, 'hasProviderSets'> | undefined;

const mayHave = (home: Flagged, workspace: Pick<Workspace, 'sourceModule'>): boolean =>
  Boolean(home?.hasProviderSets && workspace.sourceModule);

/**
 * Reads and writes nothing for workspaces that were not created from a module, and in organizations that never had a
 * provider set. Otherwise 1 query, and 1 read and 1 object if there are any.
 */
export const freezeProviderSets = async (
  home: Flagged,
  workspace: Home & Pick<Workspace, 'sourceModule'>,
  runId: string,
): Promise<{ providerSetsKey?: string }> => {
  if (!mayHave(home, workspace)) return {};
  const chosen = chosenFrom(await effectiveProviderSets(workspace));
  if (chosen.length === 0) return {};
  const providerSetsKey = objects.runProviderSets(runId);
  await putObject(providerSetsKey, JSON.stringify(chosen), 'application/json');
  return { providerSetsKey };
};

/** @throws {Error} when the run's sets are missing from storage */
export const frozenProviderSets = async (key: string | undefined): Promise<{ providerSets?: JobProviderSet[] }> => {
  if (key === undefined) return {};
  const content = await getObject(key);
  if (!content) throw new Error(`the provider sets of a run are missing (${key})`);
  return { providerSets: JSON.parse(content.toString('utf8')) as JobProviderSet[] };
};

/** Variables that the provider sets of an existing or planned workspace refer to. */
export const variablesOfSets = async (home: Flagged, workspace: Home): Promise<string[]> => {
  if (!home?.hasProviderSets) return [];
  return [...new Set(chosenFrom(await effectiveProviderSets(workspace)).flatMap(({ variables }) => variables))];
};
