import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Mail } from '#infra/local/aws/ses/mail.ts';

const message = {
  FromEmailAddress: 'stepform <stepform@localhost>',
  Destination: { ToAddresses: ['a@example.com'] },
  Content: {
    Simple: {
      Subject: { Data: 'network: Run errored' },
      Body: { Text: { Data: 'Organization: acme' } },
      Headers: [{ Name: 'List-Unsubscribe', Value: '<http://localhost/u>' }],
    },
  },
};
const folder = () => mkdtempSync(join(tmpdir(), 'mail-'));

it('a message becomes a private file without a mail server', async () => {
  const path = join(folder(), 'mail');
  const mail = new Mail(path, '', ['NotifyFunction']);
  await mail.send(message);
  const [file = ''] = readdirSync(path);
  const text = readFileSync(join(path, file), 'utf8');
  for (const part of [
    'To: a@example.com',
    'Subject: network: Run errored',
    'Organization: acme',
    '<http://localhost/u>',
  ])
    expect(text).toContain(part);
  expect(statSync(join(path, file)).mode & 0o077).toBe(0);
  expect([mail.mayBeSentBy('NotifyFunction'), mail.mayBeSentBy('RunsFunction')]).toEqual([true, false]);
});

it('line breaks cannot add recipients', async () => {
  const path = join(folder(), 'mail');
  const subject = { ...message.Content.Simple, Subject: { Data: 'a\r\nBcc: victim@example.com' } };
  await new Mail(path, '', []).send({ ...message, Content: { Simple: subject } });
  const [file = ''] = readdirSync(path);
  expect(readFileSync(join(path, file), 'utf8')).not.toMatch(/^Bcc:/m);
});

/** The part of SMTP that a client needs (RFC 5321). */
const smtpServer = async (takes: boolean) => {
  const received: string[] = [];
  const server = createServer((socket) => {
    let data = false;
    socket.write('220 here\r\n');
    socket.on('data', (chunk) => {
      for (const line of chunk.toString().split('\r\n').filter(Boolean)) {
        received.push(line);
        if (data) {
          if (line === '.') {
            data = false;
            socket.write('250 ok\r\n');
          }
        } else if (line === 'DATA') {
          data = true;
          socket.write('354 continue\r\n');
        } else if (line === 'QUIT') socket.end('221 bye\r\n');
        else socket.write(line.startsWith('RCPT') && !takes ? '550 no\r\n' : '250 ok\r\n');
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { received, url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
};

it('a message goes to the mail server', async () => {
  const server = await smtpServer(true);
  const path = folder();
  const mail = new Mail(path, server.url, []);
  await mail.send(message);
  await mail.close();
  server.close();
  expect(server.received).toContain('RCPT TO:<a@example.com>');
  expect(server.received).toContain('Subject: network: Run errored');
  expect(readdirSync(path)).toEqual([]);
});

it('a message that the mail server rejects fails with a retryable error', async () => {
  const server = await smtpServer(false);
  const mail = new Mail(folder(), server.url, []);
  await expect(mail.send(message)).rejects.toMatchObject({ name: 'MailServerError', statusCode: 503 });
  await expect(mail.send({})).rejects.toMatchObject({ name: 'BadRequestException' });
  await mail.close();
  server.close();
});
