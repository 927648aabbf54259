import { keys } from '#platform/store/keys.ts';
import { query } from '#platform/store/table.ts';
import { type ConfigurationVersion, checkUpload, mayStillBeUploaded, type Pointer, versionsOf } from './records.ts';

/** Number of versions per read. */
const pieceSize = 100;

interface Wanted {
  /** Includes commits that could not be fetched, because an older version would not match the branch. */
  failedCommits?: boolean;
}

/** Newest version for a run that names none. */
export const latestConfigurationVersion = async (
  workspaceId: string,
  filter: Wanted = {},
): Promise<ConfigurationVersion | undefined> => {
  const { pk } = keys.workspace(workspaceId);
  for (let after: string | undefined, more = true; more; ) {
    const range = { pk, prefix: 'CV#', after, reverse: true, limit: pieceSize };
    const pointers = await query<Pointer & { sk: string }>(range);
    const latest = await latestOf(pointers, filter);
    if (latest) return latest;
    more = pointers.length === pieceSize;
    after = pointers.at(-1)?.sk;
  }
  return undefined;
};

const latestOf = async (
  pointers: Pointer[],
  { failedCommits = false }: Wanted,
): Promise<ConfigurationVersion | undefined> => {
  for (let i = 0; i < pointers.length; i += 10) {
    for (const version of await versionsOf(pointers.slice(i, i + 10))) {
      if (version.speculative || (version.provisional && !version.adoptedAt)) continue;
      const checked = mayStillBeUploaded(version) ? await checkUpload(version) : version;
      // The run waits for a commit that is being fetched, and has an archived one fetched again.
      if (checked.status === 'uploaded' || checked.status === 'fetching') return checked;
      if (checked.commitArchive && checked.status === 'archived') return checked;
      if (failedCommits && checked.commitArchive && checked.status === 'errored') return checked;
    }
  }
  return undefined;
};
