import { dueIn } from '#platform/store/due.ts';
import { foldCase } from '#platform/store/fold-case.ts';
import { derivedId } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { put, queryAll, update } from '#platform/store/table.ts';
import { expiryIn } from '#platform/store/time.ts';
import { getRuns } from '#resources/runs/records.ts';
import type { Run } from '#run/run.ts';
import { outcomesOfPolicies, type VersionOfCommit, versionsAmong } from './policy-outcomes.ts';
import { type Outcome, ofRun } from './status-words.ts';

/** Commits with a posted status, and the newest run or version that each started in every workspace and policy set. */

export type CommitRef = NonNullable<Run['commit']>;

export interface CommitRecord extends CommitRef {
  id: string;
  organization: string;
  /** Raised by each request for an update; the writer continues until it no longer changes. */
  wanted: number;
  holder?: string;
  leaseUntil?: string;
  /** Last posted status by context. */
  posted?: Record<string, string>;
  posts?: number;
  lastPostAt?: string;
}

interface RunOfCommit {
  workspaceId: string;
  runId: string;
  at: string;
}

export const commitId = ({ tokenId, identifier, sha }: CommitRef): string =>
  derivedId('commit', `${tokenId} ${foldCase(identifier)} ${sha}`);

/** Page of the organization with the commit's runs (clients/client/page-addresses.ts). */
export const commitPage = ({ identifier, sha }: Pick<CommitRef, 'identifier' | 'sha'>): string =>
  `/commits/${[...identifier.split('/'), sha].map(encodeURIComponent).join('/')}`;

const keptSeconds = 90 * 86_400;
const expiry = (): number => expiryIn(keptSeconds);

/** Records the workspace's newest run for the commit. Called before the run is created. 1 write. */
export const registerRun = async (commit: CommitRef, { workspaceId, runId, at }: RunOfCommit): Promise<void> => {
  await put(
    { ...keys.runOfCommit(commitId(commit), workspaceId), workspaceId, runId, at, expiresAt: expiry() },
    { condition: 'attribute_not_exists(pk) OR at <= :at', values: { ':at': at } },
  );
};

/** Records the policy set's newest version for the commit. 2 writes. @returns input for the function CommitStatus */
export const registerVersion = async (
  { tokenId, identifier, sha }: CommitRef,
  { id: policySetId, organization }: { id: string; organization: string },
  policySetVersionId: string,
): Promise<{ commit: string }> => {
  const commit = { tokenId, identifier, sha };
  const id = commitId(commit);
  await put({ ...keys.runOfCommit(id, policySetId), policySetVersionId, expiresAt: expiry() });
  await want(commit, organization);
  return { commit: id };
};

/** Requests an update of its status. */
export const want = async (commit: CommitRef, organization: string): Promise<CommitRecord> => {
  const id = commitId(commit);
  const record = await update<CommitRecord>(keys.commit(id), {
    set: { ...commit, id, organization, expiresAt: expiry(), ...dueIn(id, 60) },
    add: { wanted: 1 },
  });
  return record as CommitRecord;
};

type Row = RunOfCommit | VersionOfCommit;

export const runsAmong = (rows: Row[]): RunOfCommit[] => rows.flatMap((row) => ('runId' in row ? [row] : []));

/** Runs and versions that the commit started. */
export const rowsOf = (id: string): Promise<(Row & Key)[]> =>
  queryAll<Row & Key>({ pk: keys.commit(id).pk, prefix: 'RUN#' });

export const outcomeOf = (run: Run): Outcome => ({
  kind: 'workspace',
  context: run.workspaceName,
  page: `/workspaces/${run.workspaceName}/runs/${run.id}`,
  ...ofRun(run),
});

/** The progress of its runs and policy sets. 1 query, 1 read per 100 runs, 2 per policy set. */
export const outcomesOf = async (id: string): Promise<{ runs: Run[]; outcomes: Outcome[] }> => {
  const rows = await rowsOf(id);
  const runs = await getRuns(runsAmong(rows).map(({ runId }) => runId));
  const others = await outcomesOfPolicies(versionsAmong(rows));
  return { runs, outcomes: [...runs.map(outcomeOf), ...others] };
};
