import { environment } from '#platform/environment.ts';
import { callEmail } from '#platform/store/email.ts';

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
    const error = await callEmail({
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
    if (!error) return { sent: true, again: false };
    const again = error.status >= 500 || error.status === 429;
    return { sent: false, again, problem: `${error.name}: ${oneLine(error.message).slice(0, 300)}` };
  } catch (error) {
    return { sent: false, again: true, problem: (error as Error).name };
  }
};
