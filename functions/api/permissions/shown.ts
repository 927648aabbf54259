import type { Resource } from '../answer.ts';

/** Documents of the records that the caller may see, each with the caller's permissions. */

export const byOrganization = async <R extends { organization: string }>(
  records: R[],
  shown: (organization: string, some: R[]) => Promise<Resource[]>,
): Promise<Resource[]> => {
  const groups = Map.groupBy(records, ({ organization }) => organization);
  return (await Promise.all([...groups].map(([organization, group]) => shown(organization, group)))).flat();
};
