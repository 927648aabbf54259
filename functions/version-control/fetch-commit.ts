import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Downloaded, downloadThrough } from '#platform/net/forwarding/forward.ts';
import { download } from '#platform/net/outbound/download.ts';
import { OutboundError } from '#platform/net/outbound/errors.ts';
import { inBatches } from '#platform/store/batches.ts';
import { putFile } from '#platform/store/bucket.ts';
import { dueIn } from '#platform/store/due.ts';
import { keys, objects } from '#platform/store/keys.ts';
import { update } from '#platform/store/table.ts';
import { inSeconds, now } from '#platform/store/time.ts';
import { type Archive, getConfigurationVersions } from '#resources/configurations/records.ts';
import { recordRetry } from '#resources/runs/records.ts';
import type { FetchRetry } from '#run/run.ts';
import { type Access, accessBy } from './access.ts';
import { type CommitArchive, getArchive, isConfiguration, rowsOf } from './archives.ts';
import { asForgeError, failureOf, headersFor, pausedUntil } from './call.ts';
import { ForgeError, mayPass } from './forge-error.ts';
import { counted } from './handling.ts';
import { type AddPart, ArchiveError, limits, repack } from './repack.ts';
import { identifierOf, readGitmodules, type Submodule, takesSsh } from './submodules.ts';
import { unzipped } from './unzipped.ts';

/** Fetches a commit from its forge into the bucket, as a stream. */

/** Renewed during the fetch, so that an interrupted fetch is soon repeated. */
const leaseSeconds = 50;
const renewMs = 15_000;

/** Delays between attempts in one call in ms, and then until the sweep retries in seconds. */
const waitsMs = [0, 5_000, 30_000];
const laterSeconds = [120, 300, 600];

/** Maximum compressed size through an agent, since some archives are compressed less than this platform's. */
const maxDownloaded = 4 * limits.packedBytes;

const downloadHere = async (request: Parameters<typeof download>[0]): Promise<Downloaded> => {
  const answer = await download(request);
  const status = answer.statusCode ?? 0;
  if (status !== 200) answer.destroy();
  return { status, headers: answer.headers, body: answer };
};

const downloadCommit = async (
  { client, onProblem, forge, name, secret }: Access,
  { identifier, sha }: Pick<CommitArchive, 'identifier' | 'sha'>,
) => {
  const url = forge.archiveUrl(client, identifier, sha);
  const request = { url, headers: { ...headersFor(client, secret), accept: '*/*' } };
  const answer = await (client.agentPoolId
    ? downloadThrough(client.agentPoolId, request, maxDownloaded)
    : downloadHere(request));
  const { status } = answer;
  if (status === 200) return answer.body;
  const until = pausedUntil(status, answer.headers);
  if (!until) throw failureOf(name, status, Buffer.alloc(0), secret);
  await onProblem?.({ pausedUntil: until });
  throw new ForgeError('limited', `the rate limit of ${name} is reached until ${until.slice(11, 16)} UTC`, status);
};

const maxDepth = 5;
const maxSubmodules = 50;

interface Fetched {
  access: Access;
  /** The repository with the submodules. */
  identifier: string;
  add: AddPart;
  /** For temporary files. */
  folder: string;
  submodules: boolean;
  /** Number of submodules at all depths. */
  count: number;
}

/** A token of an installation is valid for one repository. */
const reaching = async ({ access, identifier: root }: Fetched, identifier: string): Promise<Access> =>
  access.isInstallation && identifier !== root
    ? accessBy(access.id, { patient: true, repository: identifier })
    : access;

/** Adds a commit and its submodules sequentially. */
const addCommit = async (
  fetched: Fetched,
  commit: Pick<CommitArchive, 'identifier' | 'sha'>,
  below = '',
  depth = 0,
): Promise<void> => {
  const access = await reaching(fetched, commit.identifier);
  const root = await access.forge.zippedRoot?.(access.call, commit.identifier, commit.sha);
  const downloaded = await downloadCommit(access, commit);
  const source = root ? await unzipped(downloaded, fetched.folder, root) : downloaded;
  const read = fetched.submodules ? '.gitmodules' : undefined;
  const text = await fetched.add({ source, isTar: root !== undefined, below, ...(read ? { read } : {}) });
  for (const submodule of text === undefined ? [] : readGitmodules(text)) {
    await addSubmodule(fetched, commit, submodule, below, depth + 1);
  }
};

/**
 * Fetches submodules only from the connection's forge: the token is sent nowhere else, and nothing is fetched without
 * it.
 */
const addSubmodule = async (
  fetched: Fetched,
  { identifier, sha }: Pick<CommitArchive, 'identifier' | 'sha'>,
  { path, url }: Submodule,
  below: string,
  depth: number,
): Promise<void> => {
  const { client, forge, call, name } = await reaching(fetched, identifier);
  const refuse = (why: string) => new ArchiveError(`The submodule at ${below}${path} cannot be fetched: ${why}`);
  // A path in .gitmodules that the tree lacks is skipped, as git does.
  const wanted = await forge.submodule(call, identifier, sha, path);
  if (wanted === undefined) return;
  const repository = identifierOf(url, { httpUrl: client.httpUrl, identifier });
  if (!repository) {
    const key = takesSsh(url) ? '; SSH keys are not used for submodules' : '';
    throw refuse(
      `only repositories of the connection's ${name} (${new URL(client.httpUrl).host}) can be submodules${key}`,
    );
  }
  if (depth > maxDepth) throw refuse(`submodules are nested deeper than ${maxDepth}`);
  if (++fetched.count > maxSubmodules) throw refuse(`there are more than ${maxSubmodules} submodules`);
  try {
    await addCommit(fetched, { identifier: repository, sha: wanted }, `${below}${path}/`, depth);
  } catch (error) {
    const failure = error instanceof ForgeError ? error.failure : '';
    if (failure !== 'missing' && failure !== 'refused') throw error;
    throw refuse(`the connection's account finds no commit ${wanted.slice(0, 7)} in ${repository}`);
  }
};

const fetchOnce = async ({
  tokenId,
  identifier,
  sha,
  id,
  since,
  submodules = false,
}: CommitArchive): Promise<{ archive: Archive; size: number }> => {
  const access = await accessBy(tokenId, { patient: true, repository: identifier });
  const folder = await mkdtemp(join(tmpdir(), 'commit-'));
  try {
    const file = join(folder, 'archive.tar.gz');
    const { size, sha256 } = await repack(
      (add) => addCommit({ access, identifier, add, folder, submodules, count: 0 }, { identifier, sha }),
      file,
    );
    const key = objects.commit(id.split('#')[0] ?? '', sha, since.replaceAll(/\W/g, ''), sha256);
    await putFile(key, file, size, sha256);
    return { archive: { key, sha256 }, size };
  } catch (error) {
    if (error instanceof ArchiveError || error instanceof ForgeError) throw error;
    if (error instanceof OutboundError || (error as NodeJS.ErrnoException).code?.startsWith('ECONN')) {
      const broken =
        error instanceof OutboundError ? error : new OutboundError('unreachable', 'the download was interrupted');
      throw asForgeError(access.name, broken);
    }
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** Describes the error without the message of a forge or library, which may contain URLs. */
const wordsOf = ({ identifier, sha, since }: CommitArchive, error: unknown): string => {
  if (error instanceof ArchiveError) return `${identifier} at ${sha.slice(0, 7)}: ${error.message}.`;
  if (!(error instanceof ForgeError)) return `${identifier} at ${sha.slice(0, 7)} could not be fetched.`;
  if (error.failure === 'missing') {
    return `Commit ${sha.slice(0, 7)} no longer exists in ${identifier} (force-pushed away, or the repository renamed?): ${error.message}.`;
  }
  if (error.failure === 'refused') return `The connection may not read ${identifier}: ${error.message}.`;
  const minutes = Math.round((Date.now() - Date.parse(since)) / 60_000);
  return `${identifier} could not be fetched: ${error.message}${minutes > 0 ? `; tried for ${counted(minutes, 'minute')}` : ''}.`;
};

const isTemporary = (error: unknown): boolean => !(error instanceof ArchiveError) && mayPass(error);

/** A new commit may not have reached all of the forge's replicas. */
const triesAgain = ({ repeated = false }: CommitArchive, error: unknown): boolean =>
  isTemporary(error) || (!repeated && error instanceof ForgeError && error.failure === 'missing');

/**
 * Shows the failure on runs that wait for the commit (lifecycle/creation/fetching.ts: others). 1 write, and 1 query, 1
 * read and a write per run.
 */
const reportRetry = async (archive: CommitArchive, error: unknown, seconds: number): Promise<void> => {
  const retry: FetchRetry = { reason: wordsOf(archive, error), nextAttemptAt: inSeconds(seconds) };
  await update(keys.commitArchive(archive.id), {
    set: { retry },
    condition: 'status = :fetching',
    values: { ':fetching': 'fetching' },
  });
  const rows = (await rowsOf(archive.id)).filter(isConfiguration);
  const versions = await getConfigurationVersions(rows.map(({ versionId }) => versionId));
  const waiting = versions.flatMap(({ awaitedBy = [] }) => [...awaitedBy]);
  await inBatches(waiting, (runId) => recordRetry(runId, retry));
};

const leaseEnd = (): string => new Date(Date.now() + leaseSeconds * 1000).toISOString();

/** A lease on an archive's record, renewed until it is stopped or lost. */
class Lease {
  until: string | undefined;
  readonly #id: string;
  readonly #timer: NodeJS.Timeout;
  #renewing: Promise<void> = Promise.resolve();

  constructor({ id, leaseUntil }: CommitArchive) {
    this.#id = id;
    this.until = leaseUntil;
    this.#timer = setInterval(() => {
      this.#renewing = this.#renewing.then(() => this.#renew()).catch(() => {});
    }, renewMs);
  }

  async #renew(): Promise<void> {
    const next = leaseEnd();
    const renewed = await update(keys.commitArchive(this.#id), {
      set: { leaseUntil: next, ...dueIn(this.#id, leaseSeconds) },
      condition: 'leaseUntil = :mine',
      values: { ':mine': this.until },
    });
    if (renewed) this.until = next;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#renewing;
  }
}

/**
 * Fetches the commit unless another call does. Returns its record; undefined when it is not settled. Temporary
 * failures are retried, first here and later by the sweep.
 */
export const fetchCommit = async (id: string): Promise<CommitArchive | undefined> => {
  const key = keys.commitArchive(id);
  const at = now();
  const leased = await update<CommitArchive>(key, {
    set: { leaseUntil: leaseEnd(), ...dueIn(id, leaseSeconds) },
    condition: 'status = :fetching AND (attribute_not_exists(leaseUntil) OR leaseUntil < :now)',
    values: { ':fetching': 'fetching', ':now': at },
  });
  if (!leased) {
    const current = await getArchive(id);
    return current?.status === 'fetching' ? undefined : current;
  }
  const lease = new Lease(leased);
  const settled = await tryHere(leased).finally(() => lease.stop());
  const mine = { ':mine': lease.until };
  const again = 'error' in settled && isTemporary(settled.error) ? laterSeconds[leased.attempts] : undefined;
  if ('error' in settled && again !== undefined) {
    const postponed = await update(key, {
      set: { ...dueIn(id, again) },
      add: { attempts: 1 },
      remove: ['leaseUntil'],
      condition: 'leaseUntil = :mine',
      values: mine,
    });
    if (postponed) await reportRetry(leased, settled.error, again);
    return undefined;
  }
  const outcome =
    'error' in settled
      ? { status: 'errored', failure: wordsOf(leased, settled.error) }
      : { status: 'stored', archive: settled.archive, size: settled.size };
  const done = await update<CommitArchive>(key, {
    set: { ...outcome, ...dueIn(id, 60) },
    remove: ['leaseUntil', 'retry'],
    condition: 'leaseUntil = :mine',
    values: mine,
  });
  return done ?? getArchive(id);
};

const tryHere = async (archive: CommitArchive): Promise<{ archive: Archive; size: number } | { error: unknown }> => {
  let error: unknown;
  for (const wait of waitsMs) {
    if (wait) await reportRetry(archive, error, wait / 1000);
    await delay(wait);
    try {
      return await fetchOnce(archive);
    } catch (thrown) {
      error = thrown;
      const limited = thrown instanceof ForgeError && thrown.failure === 'limited';
      if (limited || !triesAgain(archive, thrown)) break;
    }
  }
  return { error };
};
