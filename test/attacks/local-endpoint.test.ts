import { copyFileSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { until } from '#clients/client/client.ts';
import type { Local } from '#infra/local/host/folder.ts';
import { operatorFetch } from '#infra/local/host/operator-client.ts';
import { newSharedFolder } from '#test/e2e/support/shared-folder.ts';
import { newWorkspace, platform, readLog, startRun, untilFinal } from '#test/e2e/support/world.ts';
import { notSeparated, separatesUsers } from './plan-code.ts';

/**
 * A client that signs as the operator has all permissions on the local AWS endpoint: Terraform of a run must not be
 * able to sign so.
 */

const head = (method: string, path: string, headers: string[], body = ''): string =>
  [
    `${method} ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Connection: close',
    `Content-Length: ${body.length}`,
    ...headers,
    '',
    body,
  ].join('\r\n');

const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
const forged = (accessKeyId: string) => [
  `X-Amz-Date: ${time}`,
  `Authorization: AWS4-HMAC-SHA256 Credential=${accessKeyId}/${time.slice(0, 8)}/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=${'0'.repeat(64)}`,
];
const rules = JSON.stringify([{ kind: 'refuse', service: 'dynamodb', action: 'NoSuchAction', nth: 1 }]);
const scan = JSON.stringify({ TableName: platform.tableName });

const requests = [
  ...['operator', 'ASIALOCALOperator'].map((key) =>
    head('POST', '/', ['X-Amz-Target: DynamoDB_20120810.Scan', ...forged(key)], scan),
  ),
  head('GET', '/_usage?run=run-1234567890abcdef', []),
  head('PUT', '/_faults', [], rules),
  head('PUT', '/_faults', forged('ASIALOCALOperator'), rules),
];

/**
 * Sends each request over connections of its own, and over connections whose local port a process of root uses later,
 * on another address: Linux lists the connection of root first.
 */
const attack = `
const { connect } = require('node:net');
const { readFileSync } = require('node:fs');
const { port, borrowed, requests } = require('./attack.json');
const answerOf = (socket, text) => new Promise((resolve) => {
  let answer = '';
  socket.on('data', (chunk) => { answer += chunk; });
  socket.on('error', (error) => resolve(error.code));
  socket.on('close', () => resolve(answer.split('\\r\\n')[0]));
  socket.write(text);
});
const connected = (from) => new Promise((resolve, reject) => {
  const socket = connect({ host: '127.0.0.1', port, ...from }, () => resolve(socket)).on('error', reject);
});
const isListed = (local) =>
  readFileSync('/proc/net/tcp', 'utf8').includes('0100007F:' + local.toString(16).toUpperCase().padStart(4, '0') + ' ');
(async () => {
  const sockets = [];
  for (const localPort of borrowed) sockets.push(await connected({ localAddress: '127.0.0.2', localPort }));
  for (let i = 0; i < 600 && !borrowed.every(isListed); i++) await new Promise((done) => setTimeout(done, 50));
  for (const [i, text] of requests.entries()) {
    console.log('answered ' + i + ' ' + (await answerOf(await connected({}), text)));
    console.log('answered ' + i + ' ' + (await answerOf(sockets[i], text)));
  }
})();
`;

/** Copies Node to a folder that rooms show, because they hide a checkout below /tmp. */
const folder = newSharedFolder('node-');
const hidden = /^\/(tmp|var\/tmp|dev\/shm)\//.test(realpathSync(process.execPath));
const node = hidden ? join(folder, 'node') : process.execPath;
if (hidden) copyFileSync(process.execPath, node);

const connections: Socket[] = [];
afterAll(() => {
  rmSync(folder, { recursive: true });
  for (const socket of connections) socket.destroy();
});

const localRow = (port: number): string => `0200007F:${port.toString(16).toUpperCase().padStart(4, '0')} `;

it.runIf(separatesUsers)(`Terraform cannot act as the operator of the local AWS endpoint${notSeparated}`, async () => {
  const port = Number(new URL(platform.awsEndpointUrl ?? '').port);
  const first = 61_000 + (process.pid % 4_000);
  const borrowed = requests.map((_, i) => first + i);
  const run = await startRun(await newWorkspace({ 'auto-apply': true, 'structured-run-output-enabled': false }), {
    'attack.js': attack,
    'attack.json': JSON.stringify({ port, borrowed, requests }),
    'main.tf': `resource "terraform_data" "a" {\n  provisioner "local-exec" {\n    command = "'${node}' attack.js"\n  }\n}\n`,
  });
  const table = await until(
    async () => readFileSync('/proc/net/tcp', 'utf8'),
    (text) => borrowed.every((one) => text.includes(localRow(one))),
    120_000,
  );
  expect(table).toContain(localRow(first));
  for (const localPort of borrowed) connections.push(connect({ host: '127.0.0.1', port, localPort }));
  expect((await untilFinal(run)).attributes.status).toBe('applied');
  const answers = (await readLog(run, 'apply')).match(/(?<=answered )\d.*/g) ?? [];
  expect(answers.map((answer) => answer.trim())).toEqual(
    requests.flatMap((_, i) => [`${i} HTTP/1.1 403 Forbidden`, `${i} HTTP/1.1 403 Forbidden`]),
  );
  expect(await (await operatorFetch(platform as Local, '/_faults')).json()).toEqual([]);
});
