import type { IncomingHttpHeaders } from 'node:http';
import { notificationBody } from '#run/notifications/formats.ts';
import type { Message, UrlDestinationType } from '#run/notifications/message.ts';
import { OutboundError } from './errors.ts';
import { send } from './send.ts';
import { signatureOf } from './signature.ts';

/** Result of one notification, as shown to users (HCP API: `delivery-responses`). */
export interface DeliveryResponse {
  url: string;
  /** Status as text, like in the API; empty without a response. */
  code: string;
  /** The beginning of the response, or the reason why there is none. */
  body: string;
  headers: Record<string, string[]>;
  sentAt: string;
  successful: boolean;
}

export interface Destination {
  url: string;
  destinationType: UrlDestinationType;
  /** Key of the signature. */
  token: string | undefined;
}

export interface Delivery {
  response: DeliveryResponse;
  /** A retry can succeed. */
  again: boolean;
}

const maxBody = 1000;
const maxHeaders = 20;
const maxHeader = 200;

/** Leaves out cookies, which would be credentials of this platform. */
const shown = (headers: IncomingHttpHeaders): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name, value]) => value !== undefined && !name.startsWith('set-cookie'))
      .slice(0, maxHeaders)
      .map(([name, value]) => [name, [value ?? ''].flat().map((text) => text.slice(0, maxHeader))]),
  );

/** Temporary failures: too many requests, too early, and server errors. */
const passes = (status: number): boolean => status >= 500 || [408, 425, 429].includes(status);

/** One request to the URL of a notification configuration; a failed request is a result, not an exception. */
export const deliverNotification = async (
  { url, destinationType, token }: Destination,
  message: Message,
  baseUrl: string,
): Promise<Delivery> => {
  const body = Buffer.from(JSON.stringify(notificationBody(destinationType, message)));
  const headers = {
    'content-type': 'application/json',
    'user-agent': `TFC/1.0 (+${baseUrl}; TFC)`,
    ...(token ? { 'x-tfe-notification-signature': signatureOf(body, token) } : {}),
  };
  const sentAt = new Date().toISOString();
  try {
    const answer = await send({ method: 'POST', url, headers, body });
    const successful = answer.status >= 200 && answer.status < 300;
    const text = answer.body.toString('utf8').replaceAll('\0', '').slice(0, maxBody);
    const response = {
      url,
      code: String(answer.status),
      body: text,
      headers: shown(answer.headers),
      sentAt,
      successful,
    };
    return { response, again: passes(answer.status) };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    const response = { url, code: '', body: error.message, headers: {}, sentAt, successful: false };
    return { response, again: error.failure !== 'forbidden' };
  }
};
