import { grantsOfUser } from '../access/grants.ts';
import type { Organization } from '../people/organizations/records.ts';
import { completeLink, linkOfAccount } from './account-links.ts';
import { type Command, commandOf } from './commands.ts';
import type { Matter } from './deliveries.ts';
import type { PullComment } from './forges/forge.ts';
import type { Handling, Outcome } from './handling.ts';
import { planAgain } from './pulls.ts';

/**
 * Comments on pull requests that ask for something. What a delivery says of one is not believed: the forge is asked who wrote
 * it and what it says, so that a forged delivery, or one of a comment that somebody else edited, does nothing. It counts as
 * the user who has proved that the account is theirs, with what they may do now. Strangers get no answer, only an event.
 */

type About = Extract<Matter, { kind: 'comment' }>;

const link = async ({ repository }: Handling, comment: PullComment, { argument = '' }: Command): Promise<Outcome> => {
  const { clientId, identifier } = repository;
  const account = { id: comment.authorId, username: comment.author };
  if (await completeLink(clientId, account, argument)) return { message: `Linked ${comment.author} of ${identifier}` };
  return {
    level: 'error',
    message: `Refused: the code in the comment of ${comment.author} on #${comment.number} of ${identifier} is used, too old, or of another account`,
    suggestedAction: 'Ask for another code, with the name of the account that comments.',
  };
};

const plan = async (
  handling: Handling,
  comment: PullComment,
  { argument }: Command,
  organization: Organization | undefined,
): Promise<Outcome> => {
  const { clientId, identifier } = handling.repository;
  const account = await linkOfAccount(clientId, comment.authorId);
  if (!account) {
    return {
      message: `Skipped: ${comment.author}, who commented "stepform plan" on #${comment.number} of ${identifier}, has not linked an account`,
    };
  }
  const { userId } = account;
  const granted = await grantsOfUser(userId).onWorkspaces(handling.repository.organization, handling.followers);
  const request = { id: `comment ${comment.id}`, userId, author: comment.author, workspace: argument, granted };
  return planAgain(handling, comment.number, request, organization);
};

export const handleComment = async (
  handling: Handling,
  { number, commentId }: About,
  organization: Organization | undefined,
): Promise<Outcome> => {
  const { access, repository } = handling;
  const { identifier } = repository;
  const comment = await access.forge.comment(access.call, identifier, { number, id: commentId });
  const command = comment?.number === number ? commandOf(comment.body) : undefined;
  if (!comment || !command) return { message: `Skipped: the comment on #${number} of ${identifier} is gone` };
  if (comment.edited) return { message: `Skipped: the comment on #${number} of ${identifier} was edited` };
  return command.verb === 'link' ? link(handling, comment, command) : plan(handling, comment, command, organization);
};
