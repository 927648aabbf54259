import type { Granted } from '#api/permissions/granted.ts';
import { keepRequestedEvent } from '#resources/audit/records.ts';
import { getOrganization } from '#resources/organizations/records.ts';
import { grantsOfUser } from '#resources/teams/access/grants.ts';
import { completeLink, linkOfAccount, spendCode } from './account-links.ts';
import { type Command, commandOf } from './commands.ts';
import type { RepositoryTask } from './deliveries.ts';
import type { PullComment } from './forges/forge.ts';
import { pullForges } from './forges/pull-forges.ts';
import { appLinks, isInstallation } from './github-app/installations.ts';
import { counted, type Handling, type Outcome } from './handling.ts';
import { isHeldBy } from './merge-locks.ts';
import { releasePull } from './merges.ts';
import { applyPull } from './pull-apply.ts';
import { planAgain } from './pulls.ts';

/**
 * Commands in comments on pull requests. The comment and its author are read from the forge, so that a forged
 * delivery, or a comment edited by another account, has no effect. The command runs on behalf of the user who linked
 * the account, with that user's current permissions. Unlinked accounts get no answer; only an event is recorded.
 */

type About = Extract<RepositoryTask, { kind: 'comment' }>;

/** Records the command and its account in the audit trail. */
const keepTrace = ({ repository }: Handling, comment: PullComment, { verb, argument }: Command, userId: string) => {
  const { organization, identifier, clientId } = repository;
  const resource = { type: 'pull_request', id: `${identifier}#${comment.number}` };
  const meta = {
    account: comment.author,
    comment: comment.id,
    ...(verb !== 'link' && argument ? { workspace: argument } : {}),
  };
  const at = new Date(comment.createdAt).toISOString();
  const event = { at, organization, actor: userId, resource, action: `${verb}_by_comment`, meta };
  return keepRequestedEvent(event, `${clientId} comment ${comment.id} ${verb}`);
};

const link = async (handling: Handling, comment: PullComment, command: Command): Promise<Outcome> => {
  const { clientId, identifier } = handling.repository;
  const account = { id: comment.authorId, username: comment.author };
  const code = command.argument ?? '';
  const linked = await completeLink(clientId, account, code);
  if (linked) {
    await keepTrace(handling, comment, command, linked.userId);
    await spendCode(code);
    return { message: `Linked ${comment.author} of ${identifier}` };
  }
  return {
    level: 'error',
    message: `Refused: the code in the comment of ${comment.author} on #${comment.number} of ${identifier} was used before, has expired, or belongs to another account`,
    suggestedAction: 'Request another code for the account that comments.',
  };
};

interface Asked {
  handling: Handling;
  comment: PullComment;
  command: Command;
  userId: string;
  granted(workspaceId: string): Granted;
}

const plan = async ({ handling, comment, command, userId, granted }: Asked): Promise<Outcome> => {
  const { id, author, number } = comment;
  const organization = await getOrganization(handling.repository.organization);
  const request = { id: `comment ${id}`, userId, author, workspace: command.argument, granted };
  return planAgain(handling, number, request, organization);
};

const unlock = async ({ handling, comment, granted }: Asked): Promise<Outcome> => {
  const { author, number } = comment;
  const { repository, followers } = handling;
  const name = `#${number} of ${repository.identifier}`;
  const locked = followers.filter((workspace) => isHeldBy(workspace, { repository: repository.id, number }));
  const refused = locked.find(({ id }) => !granted(id).has('workspace:lock'));
  if (refused) return { message: `Skipped: ${author} may not unlock ${refused.name}, to which ${name} was applied` };
  const released = await releasePull(handling, number);
  return { message: `Unlocked ${counted(released, 'workspace')} that ${name} was applied to, for ${author}` };
};

const act = async (asked: Asked): Promise<Outcome> => {
  const { verb } = asked.command;
  if (verb === 'plan') return plan(asked);
  if (verb === 'unlock') return unlock(asked);
  const { handling, comment, command, userId, granted } = asked;
  return applyPull(handling, comment, { userId, granted, workspace: command.argument });
};

export const handleComment = async (handling: Handling, { number, commentId }: About): Promise<Outcome> => {
  const { access, repository, followers } = handling;
  const { identifier, organization, clientId } = repository;
  const links = isInstallation(clientId) ? appLinks : clientId;
  const comment = await pullForges[repository.dialect].comment(access.call, identifier, { number, id: commentId });
  const command = comment?.number === number ? commandOf(comment.body) : undefined;
  if (!comment || !command) return { message: `Skipped: the comment on #${number} of ${identifier} was deleted` };
  if (comment.edited) return { message: `Skipped: the comment on #${number} of ${identifier} was edited` };
  if (command.verb === 'link') return link(handling, comment, command);
  const account = await linkOfAccount(links, comment.authorId);
  if (!account) {
    const words = `who commented "stepform ${command.verb}" on #${number} of ${identifier}`;
    return { message: `Skipped: ${comment.author}, ${words}, has not linked an account` };
  }
  const { userId } = account;
  const granted = await grantsOfUser(userId).onWorkspaces(organization, followers);
  await keepTrace(handling, comment, command, userId);
  return act({ handling, comment, command, userId, granted });
};
