import { createHash } from 'node:crypto';
import { foldCase } from '#platform/store/fold-case.ts';
import { derivedId, hashSecret, newSecret } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet, create, get, put, update, updateExisting } from '#platform/store/table.ts';
import { expiryIn, now } from '#platform/store/time.ts';
import { accepted, getMemberships } from '#resources/users/memberships.ts';
import { getUsers } from '#resources/users/users.ts';

/**
 * Recipients of e-mail notifications. Addresses of members count as verified; other addresses are verified by their
 * owner before they receive notifications. Every recipient can unsubscribe (HCP API: email recipient statuses).
 */
export interface EmailRecipient {
  id: string;
  organization: string;
  email: string;
  createdAt: string;
  updatedAt: string;
  verifiedAt?: string;
  /** Unsubscribed from all notifications of the organization. */
  unsubscribedAt?: string;
  /** Unsubscribed from notifications of these projects. */
  unsubscribedProjects?: Set<string>;
  failures?: number;
  /** Time of the last verification e-mail. */
  askedAt?: string;
}

/** Maximum e-mails of an organization per day: they cost money, and complaints harm the sender's reputation. */
export const maxEmailsADay = 1000;
const askAgainMs = 24 * 3600 * 1000;
const countSeconds = 2 * 24 * 3600;
const tokenSeconds = 90 * 24 * 3600;

const hashOf = (email: string): string => createHash('sha256').update(foldCase(email)).digest('hex');
const keyOf = (organization: string, email: string): Key => keys.emailRecipient(organization, hashOf(email));

/** The same tag for the same address. */
export const recipientTag = (email: string): string => hashOf(email).slice(0, 16);

const ensure = async (organization: string, email: string): Promise<EmailRecipient> => {
  const at = now();
  const id = derivedId('ers', `${organization} ${foldCase(email)}`);
  const recipient: EmailRecipient = { id, organization, email, createdAt: at, updatedAt: at };
  if (await create({ ...keyOf(organization, email), ...recipient })) return recipient;
  return (await get<EmailRecipient>(keyOf(organization, email))) ?? recipient;
};

const change = (
  { organization, email }: Pick<EmailRecipient, 'organization' | 'email'>,
  set: Partial<EmailRecipient>,
  changes: { add?: Record<string, number | Set<string>>; remove?: string[] } = {},
): Promise<EmailRecipient | undefined> =>
  updateExisting<EmailRecipient>(keyOf(organization, email), { set: { ...set, updatedAt: now() }, ...changes });

/** False when the organization has reached its daily limit. 1 write. */
export const countEmail = async (organization: string): Promise<boolean> => {
  const counted = await update(keys.emailCount(organization, now().slice(0, 10)), {
    add: { sent: 1 },
    set: { expiresAt: expiryIn(countSeconds) },
    condition: 'attribute_not_exists(sent) OR sent < :max',
    values: { ':max': maxEmailsADay },
  });
  return counted !== undefined;
};

/** The recipient, and the configuration of the e-mail. */
interface EmailToken {
  organization: string;
  email: string;
  projectId?: string;
  use: 'verify' | 'unsubscribe';
}

/** Token of a link in an e-mail, valid for 90 days. 1 write. */
export const newEmailToken = async (token: EmailToken): Promise<string> => {
  const secret = newSecret();
  const expiresAt = expiryIn(tokenSeconds);
  await put({ ...keys.emailToken(hashSecret(secret)), ...token, expiresAt });
  return secret;
};

/** 2 reads. Undefined when the token is unknown or expired. */
export const findByToken = async (
  secret: string,
  use: EmailToken['use'],
): Promise<{ recipient: EmailRecipient; token: EmailToken } | undefined> => {
  const token = await get<EmailToken & { expiresAt: number }>(keys.emailToken(hashSecret(secret)));
  if (token?.use !== use || token.expiresAt * 1000 < Date.now()) return undefined;
  return { token, recipient: await ensure(token.organization, token.email) };
};

export const verifyRecipient = (recipient: EmailRecipient): Promise<EmailRecipient | undefined> =>
  change(
    recipient,
    { verifiedAt: recipient.verifiedAt ?? now() },
    { remove: ['unsubscribedAt', 'unsubscribedProjects'] },
  );

export const unsubscribe = (
  recipient: EmailRecipient,
  projectId: string | undefined,
): Promise<EmailRecipient | undefined> =>
  projectId === undefined
    ? change(recipient, { unsubscribedAt: recipient.unsubscribedAt ?? now() })
    : change(recipient, {}, { add: { unsubscribedProjects: new Set([projectId]) } });

export const countFailure = async (organization: string, email: string): Promise<void> => {
  await ensure(organization, email);
  await change({ organization, email }, {}, { add: { failures: 1 } });
};

/** True once in 24 hours, when a verification e-mail may be sent. */
export const mayAsk = async (organization: string, email: string): Promise<boolean> => {
  const { askedAt, verifiedAt, unsubscribedAt } = await ensure(organization, email);
  if (verifiedAt || unsubscribedAt) return false;
  if (askedAt && Date.now() - Date.parse(askedAt) < askAgainMs) return false;
  const updated = await update(keyOf(organization, email), {
    set: { askedAt: now() },
    condition: askedAt ? 'askedAt = :before' : 'attribute_exists(pk) AND attribute_not_exists(askedAt)',
    values: askedAt ? { ':before': askedAt } : {},
  });
  return updated !== undefined;
};

/** The addresses that belong to members. 2 reads. */
const addressesOfMembers = async (organization: string, emails: string[]): Promise<Set<string>> => {
  const pointers = await batchGet<Key & { userId: string }>(emails.map(keys.email));
  const memberships = await getMemberships(organization, [...new Set(pointers.map(({ userId }) => userId))]);
  const members = new Set(memberships.filter(accepted).map(({ userId }) => userId));
  const theirs = new Set(pointers.filter(({ userId }) => members.has(userId)).map(({ pk }) => pk));
  return new Set(emails.filter((email) => theirs.has(keys.email(email).pk)));
};

export interface Recipients {
  /** Without duplicates. */
  emails: string[];
  /** Addresses not verified yet. */
  unverified: string[];
}

interface Addressed {
  organization: string;
  emailAddresses?: string[];
  userIds?: string[];
}

const distinct = (emails: string[]): string[] => [...new Map(emails.map((email) => [foldCase(email), email])).values()];

/**
 * Addresses that receive e-mails about the project now. At most 4 reads.
 * @param projectId absent for notifications without a project
 */
export const recipientsOf = async (
  { organization, emailAddresses = [], userIds = [] }: Addressed,
  projectId?: string,
): Promise<Recipients> => {
  const users = await getUsers(userIds);
  const emails = distinct([...users.map(({ email }) => email), ...emailAddresses]);
  const members = await addressesOfMembers(organization, emails);
  const statuses = await batchGet<EmailRecipient & Key>(emails.map((email) => keyOf(organization, email)));
  const statusOf = (email: string) => statuses.find((recipient) => foldCase(recipient.email) === foldCase(email));
  const addressed = emails.filter((email) => {
    const status = statusOf(email);
    return !status?.unsubscribedAt && !(projectId && status?.unsubscribedProjects?.has(projectId));
  });
  const isKnown = (email: string) => members.has(email) || statusOf(email)?.verifiedAt !== undefined;
  return { emails: addressed.filter(isKnown), unverified: addressed.filter((email) => !isKnown(email)) };
};
