import { keys } from '#platform/store/keys.ts';
import { eachName, findNames, type NameCounts, type Names, pageOfNames } from '#platform/store/name-index.ts';
import type { Paging, ScanResult } from '#platform/store/scan.ts';
import { getVariableSets, type VariableSet, type VariableSetName } from './set-records.ts';

/** Lists of an organization's variable sets, ordered by name. */

const namesOf = (organization: string): Names => ({ pk: keys.organization(organization).pk, prefix: 'VARSET#' });

/** Skips entries of former names that an interrupted rename left behind. */
const named = async (entries: VariableSetName[]): Promise<VariableSet[]> => {
  const names = new Map(entries.map(({ holder, name }) => [holder, name]));
  return (await getVariableSets(names.keys())).filter(({ id, name }) => names.get(id) === name);
};

/** All sets of the organization. Reads the page. */
export const listVariableSets = async (
  organization: NameCounts & { name: string },
  paging: Paging,
): Promise<ScanResult<VariableSet>> => {
  const names = await pageOfNames<VariableSetName>(organization, 'variableSet', namesOf(organization.name), paging);
  return { ...names, items: await named(names.items) };
};

export interface VariableSetFilter {
  /** Whether the set can match, judged by its name and owner. */
  mayFit(entry: Pick<VariableSetName, 'name' | 'projectId'>): boolean;
  /** Absent when name and owner decide. */
  fits?(set: VariableSet): boolean;
  /** The sets that the caller may see; absent: all. */
  visible?(sets: VariableSet[]): Promise<VariableSet[]>;
}

/** Matching sets of the organization. Reads every set that the filter checks (platform/store/scan.ts). */
export const findVariableSets = (
  organization: string,
  { mayFit, fits, visible }: VariableSetFilter,
  paging: Paging,
): Promise<ScanResult<VariableSet>> =>
  findNames<VariableSetName, VariableSet>(
    namesOf(organization),
    {
      narrow: (entries) => entries.filter(mayFit),
      records: async (entries) => (visible ? visible(await named(entries)) : named(entries)),
      // Invisible sets do not count towards the total.
      fits: visible ? (set) => fits?.(set) ?? true : fits,
    },
    paging,
  );

/** All sets, in batches. */
export async function* eachVariableSet(organization: string): AsyncGenerator<VariableSet[]> {
  for await (const entries of eachName<VariableSetName>(namesOf(organization))) yield named(entries);
}
