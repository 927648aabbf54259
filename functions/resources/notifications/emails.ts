import { environment } from '#platform/environment.ts';
import { sendEmail } from '#platform/net/outbound/email.ts';
import type { DeliveryResponse } from '#platform/net/outbound/notification.ts';
import { currentName } from '#resources/organizations/records.ts';
import { emailContent } from '#run/notifications/formats.ts';
import type { Message } from '#run/notifications/message.ts';
import {
  countEmail,
  countFailure,
  maxEmailsADay,
  mayAsk,
  newEmailToken,
  recipientsOf,
  recipientTag,
} from './email-recipients.ts';
import type { NotificationConfiguration } from './records.ts';

/** E-mail notifications: one message per recipient, so that recipients do not see each other's addresses. */

const base = '/api/v2/email-recipient-statuses';

const linkOf = async (
  use: 'verify' | 'unsubscribe',
  { organization, id }: Pick<NotificationConfiguration, 'organization' | 'id'>,
  email: string,
  projectId?: string,
): Promise<string> => {
  const token = await newEmailToken({ organization, email, use, projectId });
  return `${environment.publicUrl}${base}/${use}?token=${token}&config=${id}`;
};

const overLimit = `the organization has reached its limit of ${maxEmailsADay} e-mails a day`;

interface Emails {
  message: Message;
  /** Project of the notification; absent without one. */
  projectId?: string;
  /** False when this recipient already received it. */
  claim?(recipient: string): Promise<boolean>;
  end?(recipient: string): Promise<void>;
}

type Sent = { email: string; again: boolean; problem?: string };

const sendTo = async (
  configuration: NotificationConfiguration,
  email: string,
  { message, projectId, claim, end }: Emails,
): Promise<Sent> => {
  const { organization } = configuration;
  const tag = recipientTag(email);
  if (claim && !(await claim(tag))) return { email, again: false };
  if (!(await countEmail(organization))) return { email, again: false, problem: overLimit };
  const unsubscribeUrl = await linkOf('unsubscribe', configuration, email, projectId);
  const { subject, text } = emailContent(message);
  const footer = `--\nNotification of ${await currentName(organization)} at ${environment.publicUrl}\nUnsubscribe: ${unsubscribeUrl}`;
  const outcome = await sendEmail({ to: email, subject, text: `${text}\n\n${footer}\n`, unsubscribeUrl });
  if (!outcome.again) await end?.(tag);
  if (!outcome.sent) await countFailure(organization, email);
  return { email, again: outcome.again, problem: outcome.problem };
};

const summaryOf = (sent: Sent[], unverified: string[]): string => {
  const failed = sent.filter(({ problem }) => problem);
  return [
    `Sent to ${sent.length - failed.length} of ${sent.length + unverified.length} recipients.`,
    ...failed.map(({ email, problem }) => `${email}: ${problem}.`),
    ...unverified.map((email) => `${email}: not verified by its owner yet.`),
  ]
    .join(' ')
    .slice(0, 1000);
};

/**
 * Returns failures as a response instead of throwing. 4 reads, and 4 writes and 1 or 2 requests to SES per recipient.
 */
export const deliverEmails = async (
  configuration: NotificationConfiguration,
  emails: Emails,
): Promise<{ response: DeliveryResponse; again: boolean }> => {
  const sentAt = new Date().toISOString();
  const { emails: addresses, unverified } = await recipientsOf(configuration, emails.projectId);
  const sent: Sent[] = [];
  for (const email of addresses) sent.push(await sendTo(configuration, email, emails));
  const successful = sent.every(({ problem }) => problem === undefined);
  const response = {
    url: 'email',
    code: successful ? '200' : '',
    body: summaryOf(sent, unverified),
    headers: {},
    sentAt,
    successful,
  };
  return { response, again: sent.some(({ again }) => again) };
};

/** Sends a verification e-mail, at most once a day, to addresses that belong to no member. */
export const askRecipients = async (configuration: NotificationConfiguration): Promise<void> => {
  const { organization } = configuration;
  const { unverified } = await recipientsOf(configuration);
  for (const email of unverified) {
    if (!(await mayAsk(organization, email)) || !(await countEmail(organization))) continue;
    const url = await linkOf('verify', configuration, email);
    const name = await currentName(organization);
    await sendEmail({
      to: email,
      subject: `Confirm notifications of ${name}`,
      text: [
        `The organization ${name} at ${environment.publicUrl} wants to send Terraform notifications to this address.`,
        '',
        `Confirm: ${url}`,
        '',
        'If you do nothing, you get no notifications. This link is valid for 90 days.',
        '',
      ].join('\n'),
    });
  }
};
