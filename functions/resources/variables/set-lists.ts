import { keys } from '#platform/store/keys.ts';
import { eachName, findNames, type NameCounts, type Names, pageOfNames } from '#platform/store/name-index.ts';
import type { Paging, ScanResult } from '#platform/store/scan.ts';
import { getVariableSets, type VariableSet, type VariableSetName } from './set-records.ts';

/** Lists of an organization's variable sets, in the order of names. */

const namesOf = (organization: string): Names => ({ pk: keys.organization(organization).pk, prefix: 'VARSET#' });

/** A name that a rename left behind is not its set's. */
const named = async (entries: VariableSetName[]): Promise<VariableSet[]> => {
  const names = new Map(entries.map(({ variableSetId, name }) => [variableSetId, name]));
  return (await getVariableSets([...names.keys()])).filter(({ id, name }) => names.get(id) === name);
};

/** All of the organization. Reads the page. */
export const listVariableSets = async (
  organization: NameCounts & { name: string },
  paging: Paging,
): Promise<ScanResult<VariableSet>> => {
  const names = await pageOfNames<VariableSetName>(organization, 'variableSet', namesOf(organization.name), paging);
  return { ...names, items: await named(names.items) };
};

export interface VariableSetFilter {
  /** Whether the set may fit, as far as its name and owner tell. */
  mayFit(entry: Pick<VariableSetName, 'name' | 'projectId'>): boolean;
  /** Missing: they tell it all. */
  fits?(set: VariableSet): boolean;
  /** Those that are for the reader to see; missing: all. */
  visible?(sets: VariableSet[]): Promise<VariableSet[]>;
}

/** Those of the organization that fit. Reads what was looked at for the page (platform/store/scan.ts). */
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
      // What is not visible is not counted.
      fits: visible ? (set) => fits?.(set) ?? true : fits,
    },
    paging,
  );

/** All of them, piece by piece. */
export async function* eachVariableSet(organization: string): AsyncGenerator<VariableSet[]> {
  for await (const entries of eachName<VariableSetName>(namesOf(organization))) yield named(entries);
}
