import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Transporter } from 'nodemailer';
import { AwsError } from '#infra/local/host/errors.ts';
import { writePrivately } from '../ssm/secrets.ts';

/** The part of SES that the product uses (SES API v2: SendEmail). */
interface Message {
  FromEmailAddress?: string;
  Destination?: { ToAddresses?: string[] };
  Content?: {
    Simple?: {
      Subject?: { Data?: string };
      Body?: { Text?: { Data?: string } };
      Headers?: { Name: string; Value: string }[];
    };
  };
}

/**
 * SES on this machine: sends through a mail server if one is configured, otherwise writes each message to a file in the
 * data folder, which any mail program opens.
 */
export class Mail {
  readonly #folder: string;
  readonly #smtp: string;
  #transport: Promise<Transporter> | undefined;
  readonly #senders: Set<string>;
  #sent = 0;

  /**
   * @param smtp URL of the mail server: `smtp://user:password@host:port`; empty for files
   * @param senders names of the functions that may send
   */
  constructor(folder: string, smtp: string, senders: string[]) {
    this.#folder = folder;
    this.#senders = new Set(senders);
    this.#smtp = smtp;
  }

  mayBeSentBy(name: string): boolean {
    return this.#senders.has(name);
  }

  /** @throws {AwsError} as SES does */
  async send(message: Message): Promise<{ MessageId: string }> {
    const { Subject, Body, Headers = [] } = message.Content?.Simple ?? {};
    const to = message.Destination?.ToAddresses ?? [];
    const from = message.FromEmailAddress;
    if (!from || to.length === 0 || !Subject?.Data || !Body?.Text?.Data) {
      throw new AwsError('BadRequestException', 'The message lacks its sender, recipient, subject or text.');
    }
    try {
      this.#transport ??= transportTo(this.#smtp);
      const sent = await (await this.#transport).sendMail({
        from,
        to,
        subject: Subject.Data,
        text: Body.Text.Data,
        headers: Object.fromEntries(Headers.map(({ Name, Value }) => [Name, Value])),
      });
      if (!this.#smtp) this.#keep((sent as unknown as { message: Buffer }).message);
      return { MessageId: String(sent.messageId) };
    } catch (error) {
      throw new AwsError(
        'MailServerError',
        `The mail server did not take the message: ${(error as Error).message}`,
        503,
      );
    }
  }

  async close(): Promise<void> {
    (await this.#transport)?.close();
  }

  #keep(content: Buffer): void {
    mkdirSync(this.#folder, { recursive: true });
    const name = `${new Date().toISOString().replaceAll(':', '-')}-${process.pid}-${++this.#sent}.eml`;
    writePrivately(join(this.#folder, name), content.toString('utf8'));
  }
}

/** Loaded with the first message: most platforms send none. */
const transportTo = async (smtp: string): Promise<Transporter> => {
  const { createTransport } = await import('nodemailer');
  if (smtp) return createTransport(smtp, {});
  // Not streamed, so that a message is written atomically.
  return createTransport({ streamTransport: true, buffer: true, newline: 'unix' }) as unknown as Transporter;
};
