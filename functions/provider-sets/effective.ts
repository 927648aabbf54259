import type { Organization } from '../people/organizations/records.ts';
import type { JobProviderSet } from '../protocols/runner.ts';
import { rankOfSet } from '../run/provider-sets.ts';
import { getObject, putObject } from '../store/bucket.ts';
import { objects } from '../store/keys.ts';
import type { Workspace } from '../workspaces/records.ts';
import { listProviderSets, type ProviderSet } from './records.ts';

/** Which provider sets a workspace has, and what a run gets of them, fixed when it is created. */

type Home = Pick<Workspace, 'id' | 'organization' | 'projectId'>;

const rankIn = ({ priority, global, workspaceIds, projectIds }: ProviderSet, { id, projectId }: Home) =>
  rankOfSet(priority, {
    global,
    ofProject: projectIds?.has(projectId) ?? false,
    ofWorkspace: workspaceIds?.has(id) ?? false,
  });

/** What counts first comes first; of one rank in the order of names. */
export const effectiveProviderSets = async (home: Home): Promise<ProviderSet[]> =>
  (await listProviderSets(home.organization))
    .map((set) => ({ set, rank: rankIn(set, home) }))
    .filter(({ rank }) => rank !== undefined)
    .sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0))
    .map(({ set }) => set);

/** One for each provider: the others would not count. */
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
 * Nothing is read, nor written, for workspaces that were not made from a module, and in organizations that never had a
 * provider set; else 1 query, and 1 read and 1 object where there are any.
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

/** @throws {Error} when what the run has to use is gone */
export const frozenProviderSets = async (key: string | undefined): Promise<{ providerSets?: JobProviderSet[] }> => {
  if (key === undefined) return {};
  const content = await getObject(key);
  if (!content) throw new Error(`the provider sets of a run are missing (${key})`);
  return { providerSets: JSON.parse(content.toString('utf8')) as JobProviderSet[] };
};

/** Variables that the sets of a workspace refer to, or will once it is there. */
export const variablesOfSets = async (home: Flagged, workspace: Home): Promise<string[]> => {
  if (!home?.hasProviderSets) return [];
  return [...new Set(chosenFrom(await effectiveProviderSets(workspace)).flatMap(({ variables }) => variables))];
};
