import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { environment } from '#platform/environment.ts';
import { dueAttributes, dueIn } from '#platform/store/due.ts';
import { keys } from '#platform/store/keys.ts';
import { logError } from '#platform/store/log.ts';
import { get, update, updateExisting } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { getOrganization, type Organization } from '#resources/organizations/records.ts';
import { getRun } from '#resources/runs/records.ts';
import { accessBy } from './access.ts';
import { type CommitRecord, commitId, commitPage, outcomesOf, registerRun, want } from './commit-records.ts';
import { ForgeError } from './forge-error.ts';
import type { CommitStatus } from './forges/forge.ts';
import { commentOnPulls } from './pull-comment.ts';
import { aggregated, type Outcome } from './status-words.ts';
import { recordVcsEvent } from './vcs-events.ts';

/**
 * Statuses of commits: the progress of their runs' plans. Only one writer at a time posts for a commit, and it posts
 * only changes. A function that finds the lease taken raises `wanted`, so that the lease's holder checks again.
 */

const leaseSeconds = 20;
const spacingMs = 2_000;
/** Spacing of the first posts. Short, so that the result of a short plan soon replaces its "running" status. */
const firstSpacingMs = 500;
const firstPosts = 6;
const workMs = 45_000;
const maxPosts = 300;

/** Longer after many posts, because forges limit their number. */
const spacingOf = ({ posts = 0 }: CommitRecord): number =>
  posts >= 100 ? 60_000 : posts >= 20 ? 10_000 : posts >= firstPosts ? spacingMs : firstSpacingMs;

/** Undefined while another writer holds the lease. */
const lease = (id: string, holder: string): Promise<CommitRecord | undefined> =>
  updateExisting<CommitRecord>(keys.commit(id), {
    set: { holder, leaseUntil: new Date(Date.now() + leaseSeconds * 1000).toISOString() },
    condition: 'attribute_not_exists(leaseUntil) OR leaseUntil < :now OR holder = :me',
    values: { ':now': now(), ':me': holder },
  });

/** False when another update was requested meanwhile. */
const release = async ({ id, wanted }: CommitRecord, holder: string): Promise<boolean> => {
  const released = await update(keys.commit(id), {
    remove: ['holder', 'leaseUntil', ...dueAttributes],
    condition: 'holder = :me AND wanted = :seen',
    values: { ':me': holder, ':seen': wanted },
  });
  return released !== undefined;
};

const pagesOf = ({ name, shownName = name }: Pick<Organization, 'name' | 'shownName'>): string =>
  `${environment.publicUrl}/app/${shownName}`;

const statusName = 'stepform';

const statusesOf = (
  commit: CommitRecord,
  outcomes: Outcome[],
  organization: Pick<Organization, 'name' | 'shownName' | 'aggregatedCommitStatusEnabled'>,
): CommitStatus[] => {
  const base = pagesOf(organization);
  const prefix = `${statusName}/${organization.shownName ?? organization.name}`;
  if (organization.aggregatedCommitStatusEnabled) {
    const [only] = outcomes;
    const targetUrl = `${base}${only && outcomes.length === 1 ? only.page : commitPage(commit)}`;
    return [{ context: prefix, targetUrl, ...aggregated(outcomes) }];
  }
  return outcomes.map(({ context, page, state, description }) => ({
    context: `${prefix}/${context}`,
    targetUrl: `${base}${page}`,
    state,
    description,
  }));
};

const textOf = ({ state, description, targetUrl }: CommitStatus): string => `${state} ${description} ${targetUrl}`;

/** The sweep handles longer waits. */
const maxWaitMs = 10_000;
/** Number of posts before the lease is renewed and progress is stored. */
const perBatch = 20;

/** Beyond the maximum number of posts, only final states are posted. */
const isWorthPosting =
  ({ posts = 0, posted }: CommitRecord) =>
  (status: CommitStatus): boolean =>
    posted?.[status.context] !== textOf(status) && (posts < maxPosts || status.state !== 'pending');

/** Stores the posted statuses even if one fails, so that none is posted twice. @throws {ForgeError} */
const postBatch = async (record: CommitRecord, statuses: CommitStatus[]): Promise<CommitRecord> => {
  const { id, tokenId, identifier, sha } = record;
  const { forge, call } = await accessBy(tokenId, { patient: true, repository: identifier });
  const posted = { ...record.posted };
  let posts = 0;
  try {
    for (const status of statuses) {
      await forge.postStatus(call, identifier, sha, status);
      posted[status.context] = textOf(status);
      posts++;
    }
  } finally {
    if (posts > 0) {
      await updateExisting<CommitRecord>(keys.commit(id), { set: { posted, lastPostAt: now() }, add: { posts } });
    }
  }
  return { ...record, posted };
};

/**
 * Posts changed statuses.
 * @param renew renews the lease; false when the lease is lost, or this call's time is over
 * @returns seconds until the remaining statuses can be posted; 0 when none remain
 * @throws {ForgeError}
 */
const post = async (
  record: CommitRecord,
  statuses: CommitStatus[],
  renew: () => Promise<boolean> = async () => true,
): Promise<number> => {
  const fresh = statuses.filter(isWorthPosting(record));
  if (fresh.length === 0) return 0;
  const wait = Date.parse(record.lastPostAt ?? '') + spacingOf(record) - Date.now();
  if (wait > maxWaitMs) return Math.ceil(wait / 1000);
  if (wait > 0) await delay(wait);
  let current = record;
  for (let i = 0; i < fresh.length; i += perBatch) {
    if (i > 0 && !(await renew())) return 1;
    current = await postBatch(current, fresh.slice(i, i + perBatch));
  }
  return 0;
};

/** The forge does not have the commit or the repository, or rejects the status. */
const gone = ['missing', 'unexpected'];

const giveUp = async (record: CommitRecord, error: ForgeError): Promise<void> => {
  const { organization, tokenId, identifier, sha } = record;
  await updateExisting(keys.commit(record.id), { remove: ['holder', 'leaseUntil', ...dueAttributes] });
  if (gone.includes(error.failure)) return;
  await recordVcsEvent({
    organization,
    clientId: null,
    tokenId,
    level: 'error',
    message: `The status of ${sha.slice(0, 7)} in ${identifier} could not be posted: ${error.message}`,
    suggestedAction: 'Check that the account of the connection may write commit statuses.',
  });
};

/** Releases the lease and schedules the sweep to post the remaining statuses. */
const putOff = (id: string, holder: string, seconds = 120): Promise<unknown> =>
  update(keys.commit(id), {
    set: dueIn(id, seconds),
    remove: ['holder', 'leaseUntil'],
    condition: 'holder = :me',
    values: { ':me': holder },
  });

/** Posts the commit's current status. */
export const updateStatus = async (id: string): Promise<void> => {
  const holder = randomUUID();
  const until = Date.now() + workMs;
  while (Date.now() < until) {
    const record = await lease(id, holder);
    if (!record) return;
    const organization = await getOrganization(record.organization);
    const { runs, outcomes } = organization ? await outcomesOf(id) : { runs: [], outcomes: [] };
    try {
      if (organization && outcomes.length > 0) {
        const renew = async () => Date.now() < until && (await lease(id, holder)) !== undefined;
        const rest = await post(record, statusesOf(record, outcomes, organization), renew);
        if (rest > 0) return void (await putOff(id, holder, rest));
        if (organization.pullRequestCommentsEnabled) await commentOnPulls(record, runs, pagesOf(organization));
      }
    } catch (error) {
      if (error instanceof ForgeError && !['limited', 'unreachable'].includes(error.failure)) {
        return giveUp(record, error);
      }
      logError('commit status postponed', error, { commit: id });
      await putOff(id, holder);
      return;
    }
    if (await release(record, holder)) return;
  }
  await putOff(id, holder);
};

/** Invoked when the status of a run has changed. */
export const handler = async (event: { runId: string } | { commit: string }): Promise<void> => {
  if ('commit' in event) return updateStatus(event.commit);
  const run = await getRun(event.runId);
  if (!run?.commit) return;
  await registerRun(run.commit, { workspaceId: run.workspaceId, runId: run.id, at: run.createdAt });
  const { id } = await want(run.commit, run.organization);
  await updateStatus(id);
};

/** Posts success for a pull request that triggers no workspace, so that a required status does not block it. */
export const postUntriggered = async (
  { tokenId, identifier }: { tokenId: string; identifier: string },
  sha: string,
  organization: Organization | undefined,
): Promise<void> => {
  const aggregates = organization?.aggregatedCommitStatusEnabled ?? true;
  if (!organization || (!aggregates && !organization.sendPassingStatusesForUntriggeredSpeculativePlans)) return;
  const commit = { tokenId, identifier, sha };
  const id = commitId(commit);
  // A commit with runs already has its own status.
  if (await get(keys.commit(id))) return;
  const record = await want(commit, organization.name);
  const targetUrl = `${pagesOf(organization)}${commitPage(commit)}`;
  const context = `${statusName}/${organization.shownName ?? organization.name}`;
  await post(record, [{ context, targetUrl, state: 'success', description: 'Affects no workspace' }]);
  await updateExisting(keys.commit(id), { remove: dueAttributes });
};
