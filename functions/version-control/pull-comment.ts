import { setTimeout as delay } from 'node:timers/promises';
import { hashSecret } from '#platform/store/id.ts';
import type { Run } from '#run/run.ts';
import { type Access, accessBy } from './access.ts';
import { commentOf, markerOf } from './comment-words.ts';
import { ForgeError } from './forge-error.ts';
import { pullForges } from './forges/pull-forges.ts';
import { getPullRequest, leaseComment, type PullRequest, releaseComment } from './pull-records.ts';
import { repositoryId } from './repositories.ts';
import { recordVcsEvent } from './vcs-events.ts';

/** One comment per pull request about the plans of its newest commit. */

interface Commented {
  tokenId: string;
  identifier: string;
  sha: string;
  organization: string;
}

const pullForgeOf = ({ dialect }: Access['client']) => pullForges[dialect];

/**
 * Finds the platform's comment if a writer was interrupted before it stored the id. Ignores comments of other accounts
 * with the same marker.
 */
const ownComment = async (
  { client, call, accountId }: Access,
  { identifier, organization }: Commented,
  number: number,
) => {
  const all = await pullForgeOf(client).comments(call, identifier, number);
  const marker = markerOf(organization);
  const marked = all.filter(({ body }) => body.startsWith(marker));
  const own = marked.length > 0 ? await accountId() : undefined;
  return marked.find(({ authorId }) => authorId === own)?.id;
};

/** Returns the comment's id. @throws {ForgeError} */
const write = async (access: Access, about: Commented, number: number, kept: PullRequest, text: string) => {
  const { client, call } = access;
  const forge = pullForgeOf(client);
  const id = kept.commentId ?? (await ownComment(access, about, number));
  // A user may have deleted the comment.
  if (id && (await forge.editComment(call, about.identifier, { number, id }, text))) return id;
  return forge.postComment(call, about.identifier, number, text);
};

const patienceMs = 20_000;

/** Undefined when a newer commit is current, or the comment already has this text. */
const lease = async (
  repository: string,
  number: number,
  { sha }: Commented,
  digest: string,
): Promise<PullRequest | undefined> => {
  const until = Date.now() + patienceMs;
  for (;;) {
    const kept = await getPullRequest(repository, number);
    if (kept?.headSha !== sha || kept.commentRefused || kept.comment === digest) return undefined;
    const leased = await leaseComment(repository, number, sha);
    if (leased) return leased;
    if (Date.now() > until) throw new ForgeError('unreachable', 'the comment is being written');
    await delay(500);
  }
};

/**
 * Updates the comment of each pull request whose newest commit this is. Records a connection without permission to
 * comment only once.
 * @throws {ForgeError} for temporary failures
 */
export const commentOnPulls = async (about: Commented, runs: Run[], base: string): Promise<void> => {
  const repository = repositoryId(about.tokenId, about.identifier);
  const numbers = new Set(runs.flatMap(({ ingress }) => ingress?.pullRequest?.number ?? []));
  for (const number of numbers) {
    const concerned = runs.filter(({ ingress }) => ingress?.pullRequest?.number === number);
    const text = commentOf(concerned, { ...about, base });
    const digest = hashSecret(text);
    const kept = await lease(repository, number, about, digest);
    if (!kept) continue;
    try {
      const access = await accessBy(about.tokenId, { patient: true, repository: about.identifier });
      const commentId = await write(access, about, number, kept, text);
      await releaseComment(repository, number, { commentId, comment: digest });
    } catch (error) {
      const refused = error instanceof ForgeError && ['refused', 'missing'].includes(error.failure);
      await releaseComment(repository, number, refused ? { commentRefused: true } : {});
      if (!refused) throw error;
      await recordVcsEvent({
        organization: about.organization,
        clientId: null,
        tokenId: about.tokenId,
        level: 'error',
        message: `The plans could not be shown on pull request #${number} of ${about.identifier}: ${error.message}`,
        suggestedAction: 'Let the account of the connection comment, or turn comments off for the organization.',
      });
    }
  }
};
