import { keys } from '#platform/store/keys.ts';
import { get, put, remove, update, updateExisting } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { getMembership, type Membership, membershipsOf } from '#resources/users/memberships.ts';
import type { SlackLink } from './link-record.ts';
import { getSlackApp, type SlackApp } from './records.ts';

/**
 * Links of Slack accounts to users. A link is a part of the membership and ends with it; a pointer leads from the Slack
 * account to the user, and has no effect without the link (decisions/0274).
 */

type Account = Pick<SlackLink, 'teamId' | 'userId'>;

/** A link counts only for the app that it was made with. */
const isOf = ({ teamId, createdAt }: SlackApp, link: SlackLink): boolean =>
  link.teamId === teamId && link.linkedAt >= createdAt;

/** Takes the account from another user. Undefined without a membership. 1 read, and at most 3 writes. */
export const linkAccount = async (
  { organization }: SlackApp,
  account: Account,
  userId: string,
): Promise<SlackLink | undefined> => {
  const key = keys.slackUser(organization, account.teamId, account.userId);
  const before = await get<{ userId: string }>(key);
  await put({ ...key, userId });
  if (before && before.userId !== userId) await dropLink(organization, before.userId, account);
  const link: SlackLink = { teamId: account.teamId, userId: account.userId, linkedAt: now() };
  const linked = await updateExisting<Membership>(keys.membership(userId, organization), {
    set: { slack: link },
    condition: 'attribute_not_exists(invitation)',
  });
  return linked?.slack;
};

const dropLink = async (organization: string, userId: string, account: Account): Promise<void> => {
  await update(keys.membership(userId, organization), {
    remove: ['slack'],
    condition: 'slack.teamId = :team AND slack.userId = :user',
    values: { ':team': account.teamId, ':user': account.userId },
  });
};

/** Takes effect at once. False when there is no link. */
export const unlinkAccount = async (organization: string, userId: string): Promise<boolean> => {
  const link = (await getMembership(userId, organization))?.slack;
  if (!link) return false;
  await dropLink(organization, userId, link);
  await remove(keys.slackUser(organization, link.teamId, link.userId), {
    condition: 'userId = :me',
    values: { ':me': userId },
  });
  return true;
};

/** The user of a Slack account, and the time of the link. 2 reads. */
export const findLink = async (
  app: SlackApp,
  slackUser: string,
): Promise<{ userId: string; linkedAt: string } | undefined> => {
  const { organization, teamId } = app;
  const pointer = await get<{ userId: string }>(keys.slackUser(organization, teamId, slackUser));
  const link = pointer && (await getMembership(pointer.userId, organization))?.slack;
  if (!link || link.userId !== slackUser || !isOf(app, link)) return undefined;
  return { userId: pointer.userId, linkedAt: link.linkedAt };
};

/** An organization of a user with a Slack app, and the user's link. */
export interface OwnLink {
  app: SlackApp;
  link: SlackLink | undefined;
}

/** Ordered by organization. 1 read, and 1 for each organization. */
export const linksOf = async (userId: string): Promise<OwnLink[]> => {
  const memberships = await membershipsOf(userId);
  const apps = await Promise.all(memberships.map(({ organization }) => getSlackApp(organization)));
  return memberships.flatMap(({ slack }, i) => {
    const app = apps[i];
    return app ? [{ app, link: slack && isOf(app, slack) ? slack : undefined }] : [];
  });
};
