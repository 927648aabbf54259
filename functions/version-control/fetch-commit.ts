import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Archive } from '../configurations/records.ts';
import { download } from '../outbound/download.ts';
import { OutboundError } from '../outbound/errors.ts';
import { putFile } from '../store/bucket.ts';
import { dueIn } from '../store/due.ts';
import { keys, objects } from '../store/keys.ts';
import { update } from '../store/table.ts';
import { now } from '../store/time.ts';
import { accessBy } from './access.ts';
import { type CommitArchive, getArchive } from './archives.ts';
import { asForgeError, failureOf, headersFor, pausedUntil } from './call.ts';
import { noteTrouble } from './connections.ts';
import { ForgeError, mayPass } from './forge-error.ts';
import { ArchiveError, repack } from './repack.ts';

/** Fetches a commit from its forge into the bucket, from stream to stream. */

/** Longer than the function may take. */
const leaseSeconds = 660;

/** Between tries within one call, and then until the sweep tries again; in seconds. */
const waitsMs = [0, 5_000, 30_000];
const laterSeconds = [120, 300, 600];

const fetchOnce = async ({
  tokenId,
  identifier,
  sha,
  id,
}: CommitArchive): Promise<{ archive: Archive; size: number }> => {
  const { client, token, forge, name, secret } = await accessBy(tokenId, { patient: true });
  const url = `${client.apiUrl}${forge.archivePath(identifier, sha)}`;
  const folder = await mkdtemp(join(tmpdir(), 'commit-'));
  try {
    const answer = await download({ url, headers: { ...headersFor(client, secret), accept: '*/*' } });
    const status = answer.statusCode ?? 0;
    if (status !== 200) {
      answer.destroy();
      const until = pausedUntil(status, answer.headers);
      if (until) {
        await noteTrouble(token, { pausedUntil: until });
        throw new ForgeError('limited', `${name} asks to wait until ${until.slice(11, 16)} UTC`, status);
      }
      throw failureOf(name, status, Buffer.alloc(0));
    }
    const file = join(folder, 'archive.tar.gz');
    const { size, sha256 } = await repack(answer, file);
    const key = objects.commit(id.split('#')[0] ?? '', sha, sha256);
    await putFile(key, file, size, sha256);
    return { archive: { key, sha256 }, size };
  } catch (error) {
    if (error instanceof ArchiveError || error instanceof ForgeError) throw error;
    if (error instanceof OutboundError || (error as NodeJS.ErrnoException).code?.startsWith('ECONN')) {
      const broken = error instanceof OutboundError ? error : new OutboundError('unreachable', 'it broke off');
      throw asForgeError(name, broken);
    }
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** In words; never what a forge or a library says of URLs. */
const wordsOf = ({ identifier, sha, attempts }: CommitArchive, error: unknown): string => {
  if (error instanceof ArchiveError) return `${identifier} at ${sha.slice(0, 7)}: ${error.message}.`;
  if (!(error instanceof ForgeError)) return `${identifier} at ${sha.slice(0, 7)} could not be fetched.`;
  if (error.failure === 'missing') {
    return `Commit ${sha.slice(0, 7)} is not in ${identifier} any more (was it force-pushed away, or the repository renamed?): ${error.message}.`;
  }
  if (error.failure === 'refused') return `The connection may not read ${identifier}: ${error.message}.`;
  return `${identifier} could not be fetched: ${error.message}; tried ${attempts + 1} times.`;
};

const triesAgain = (error: unknown): boolean =>
  !(error instanceof ArchiveError) && (mayPass(error) || (error as ForgeError).failure === 'missing');

/**
 * Fetches the commit, unless somebody else does. The record as it is then; undefined when it is not settled.
 * What may pass is tried again, first here and then when the sweep says so.
 */
export const fetchCommit = async (id: string): Promise<CommitArchive | undefined> => {
  const key = keys.commitArchive(id);
  const at = now();
  const leased = await update<CommitArchive>(key, {
    set: { leaseUntil: new Date(Date.now() + leaseSeconds * 1000).toISOString(), ...dueIn(id, leaseSeconds) },
    condition: 'status = :fetching AND (attribute_not_exists(leaseUntil) OR leaseUntil < :now)',
    values: { ':fetching': 'fetching', ':now': at },
  });
  if (!leased) {
    const current = await getArchive(id);
    return current?.status === 'fetching' ? undefined : current;
  }
  const settled = await tryHere(leased);
  const again = 'error' in settled && triesAgain(settled.error) ? laterSeconds[leased.attempts] : undefined;
  const passes = 'error' in settled && mayPass(settled.error);
  if ('error' in settled && again !== undefined && passes) {
    await update(key, {
      set: { ...dueIn(id, again) },
      add: { attempts: 1 },
      remove: ['leaseUntil'],
      condition: 'leaseUntil = :mine',
      values: { ':mine': leased.leaseUntil },
    });
    return undefined;
  }
  const outcome =
    'error' in settled
      ? { status: 'errored', failure: wordsOf(leased, settled.error) }
      : { status: 'stored', archive: settled.archive, size: settled.size };
  const done = await update<CommitArchive>(key, {
    set: { ...outcome, ...dueIn(id, 60) },
    remove: ['leaseUntil'],
    condition: 'leaseUntil = :mine',
    values: { ':mine': leased.leaseUntil },
  });
  return done ?? getArchive(id);
};

const tryHere = async (archive: CommitArchive): Promise<{ archive: Archive; size: number } | { error: unknown }> => {
  let error: unknown;
  for (const wait of waitsMs) {
    await delay(wait);
    try {
      return await fetchOnce(archive);
    } catch (thrown) {
      error = thrown;
      const limited = thrown instanceof ForgeError && thrown.failure === 'limited';
      if (limited || !triesAgain(thrown)) break;
    }
  }
  return { error };
};
