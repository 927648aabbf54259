import { beforeEach, expect, it } from 'vitest';
import { deliverNotification } from '#platform/net/outbound/notification.ts';
import type { Message } from '#run/notifications/message.ts';
import { startTaskServer, status } from '#test/support/task-server.ts';

process.env.OUTBOUND_ALLOWED_CIDRS = '127.0.0.0/8';
const server = await startTaskServer();
beforeEach(() => {
  server.requests.length = 0;
});

const message: Message = { payload: {}, headline: '', facts: [], link: null, tone: 'neutral' };

const deliver = (url = server.url, token?: string, baseUrl = 'https://platform.test') =>
  deliverNotification({ url, destinationType: 'generic', token }, message, baseUrl);

it.each([
  [200, true, false],
  [204, true, false],
  [299, true, false],
  [300, false, false],
  [304, false, false],
  [400, false, false],
  [404, false, false],
  [408, false, true],
  [425, false, true],
  [429, false, true],
  [500, false, true],
  [503, false, true],
])('a notification that gets %i counts as delivered: %s, is sent again: %s', async (code, successful, again) => {
  server.answer = status(code);
  expect(await deliver()).toMatchObject({ response: { code: String(code), successful }, again });
});

it('a notification to an unreachable receiver is sent again, one to a forbidden address is not', async () => {
  server.answer = (_, response) => response.destroy();
  expect(await deliver()).toMatchObject({ response: { code: '', successful: false }, again: true });
  process.env.OUTBOUND_ALLOWED_CIDRS = '';
  expect(await deliver()).toMatchObject({ response: { code: '', successful: false }, again: false });
  process.env.OUTBOUND_ALLOWED_CIDRS = '127.0.0.0/8';
  await expect(deliver(server.url, undefined, 'no\nheader'), 'a defect').rejects.toThrow(TypeError);
});

it('only notifications of a configuration with a token are signed, and shown responses have no cookies and limited text', async () => {
  server.answer = (_, response) =>
    response.writeHead(200, { 'set-cookie': 'a=b', 'x-long': 'v'.repeat(500) }).end(`a\0b${'c'.repeat(2000)}`);
  const { response } = await deliver();
  expect(response.headers).not.toHaveProperty('set-cookie');
  expect(response.headers['x-long']).toEqual(['v'.repeat(200)]);
  expect(response.body).toBe(`ab${'c'.repeat(998)}`);
  await deliver(server.url, 'secret');
  const [unsigned, signed] = server.requests.map(({ headers }) => headers['x-tfe-notification-signature']);
  expect(unsigned).toBeUndefined();
  expect(signed).toMatch(/^[0-9a-f]{128}$/);
});
