import { environment } from '#platform/environment.ts';
import { callEmail } from '#platform/store/aws.ts';

/** Sends e-mails through SES, from the operator's address (settings: emailSender). */

export interface Email {
  to: string;
  /** On one line. */
  subject: string;
  text: string;
  /** URL for one-click unsubscription in mail programs (RFC 8058). */
  unsubscribeUrl?: string;
}

export interface EmailOutcome {
  sent: boolean;
  /** A retry can succeed. */
  again: boolean;
  problem?: string;
}

/** A mail header is one line: SES rejects line breaks, and user input must not create headers. */
const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();

/** At most two requests; a rejected message is a result, not an exception. */
export const sendEmail = async ({ to, subject, text, unsubscribeUrl }: Email): Promise<EmailOutcome> => {
  const sender = environment.emailSender;
  if (!sender)
    return { sent: false, again: false, problem: 'this platform has no sender address (setting emailSender)' };
  const headers = unsubscribeUrl
    ? [
        { Name: 'List-Unsubscribe', Value: `<${unsubscribeUrl}>` },
        { Name: 'List-Unsubscribe-Post', Value: 'List-Unsubscribe=One-Click' },
      ]
    : [];
  try {
    await callEmail({
      FromEmailAddress: `stepform <${sender}>`,
      Destination: { ToAddresses: [to] },
      Content: {
        Simple: {
          Subject: { Data: oneLine(subject), Charset: 'UTF-8' },
          Body: { Text: { Data: text, Charset: 'UTF-8' } },
          ...(headers.length ? { Headers: headers } : {}),
        },
      },
    });
    return { sent: true, again: false };
  } catch (error) {
    const { name, message, statusCode } = error as Error & { statusCode?: number };
    if (statusCode === undefined) return { sent: false, again: true, problem: name };
    const problem = `${name}: ${oneLine(message).slice(0, 300)}`;
    return { sent: false, again: statusCode >= 500 || statusCode === 429, problem };
  }
};
