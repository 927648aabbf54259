import { execFile } from 'node:child_process';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';

/**
 * Agents and the command line send tokens to no other machine over plain http, and survive any response of a server
 * that replaces the platform.
 */

const command = fileURLToPath(new URL('../../functions/clients/cli/stepform.mjs', import.meta.url));

/** An address of this machine other than loopback, as other machines see it. */
const ownAddress = Object.values(networkInterfaces())
  .flat()
  .find((one) => one && !one.internal && one.family === 'IPv4')?.address;

let server: Server | undefined;
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
  server = undefined;
});

/** @returns received requests, and the port */
const listen = async (answer: (request: IncomingMessage, response: ServerResponse) => void, host: string) => {
  const authorizations: (string | undefined)[] = [];
  const started = createServer((request, response) => {
    authorizations.push(request.headers.authorization);
    answer(request, response);
  });
  server = started;
  await new Promise<void>((resolve) => started.listen(0, host, resolve));
  return { authorizations, port: (started.address() as AddressInfo).port };
};

const html = (_: IncomingMessage, response: ServerResponse) =>
  response
    .writeHead(200, { 'content-type': 'text/html' })
    .end('<html><body>Sign in to the guest network</body></html>');

const run = (args: string[], env: NodeJS.ProcessEnv = {}) =>
  new Promise<{ code: number; output: string }>((resolve) => {
    const secrets = { STEPFORM_AGENT_TOKEN: 'sfagent_secret', TFE_TOKEN: 'sfu_secret' };
    execFile(
      process.execPath,
      [command, ...args],
      { env: { ...process.env, ...secrets, ...env }, timeout: 60_000 },
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), output: `${stdout}${stderr}` }),
    );
  });

it.skipIf(!ownAddress)(
  'the command line and agents send no token over plain http to another machine, unless the user allows it',
  async () => {
    const { authorizations, port } = await listen(html, ownAddress ?? '');
    const host = `${ownAddress}:${port}`;
    const commands = [
      ['agent', '--address', `http://${host}`],
      ['workspaces', 'list', '--host', `http://${host}`],
      ['whoami', '--host', `http://${host}`],
    ];
    for (const args of commands) {
      const { code, output } = await run(args);
      expect(code).not.toBe(0);
      expect(output).toContain(`STEPFORM_PLAIN_HTTP_HOSTS=${host}`);
    }
    expect(authorizations).toEqual([]);
    await run(['whoami', '--host', `http://${host}`], { STEPFORM_PLAIN_HTTP_HOSTS: host });
    expect(authorizations).toEqual(['Bearer sfu_secret']);
  },
);

// test/runner/agent/connection.test.ts has other responses.
it('an agent reports a page in place of JSON in one line', async () => {
  const { port } = await listen(html, '127.0.0.1');
  const { code, output } = await run(['agent', '--address', `http://127.0.0.1:${port}`]);
  expect(code).not.toBe(0);
  // A warning about missing separation on this machine precedes it.
  expect(
    output
      .trim()
      .split('\n')
      .filter((line) => line.includes('the response is not JSON')),
  ).toHaveLength(1);
  expect(output).not.toMatch(/^\s+at /m);
});
