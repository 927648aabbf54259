import { expect, it } from 'vitest';
import { newWorkspace, platform, readLog, startRun, untilFinal } from '../e2e/support/world.ts';
import { notSeparated, separatesUsers } from './plan-code.ts';

/** The local AWS endpoint takes any key for the operator's: Terraform of a run must not be able to use that. */

const request = (method: string, path: string, headers: string[], body = ''): string =>
  [
    `${method} ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Connection: close',
    `Content-Length: ${body.length}`,
    ...headers,
    '',
    body,
  ].join('\r\n');

const signature =
  'AWS4-HMAC-SHA256 Credential=operator/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=00';
const rules = JSON.stringify([{ kind: 'refuse', service: 'dynamodb', action: 'NoSuchAction', nth: 1 }]);

const requests = {
  'scan.http': request(
    'POST',
    '/',
    ['X-Amz-Target: DynamoDB_20120810.Scan', 'X-Amz-Date: 20260101T000000Z', `Authorization: ${signature}`],
    JSON.stringify({ TableName: platform.tableName }),
  ),
  'usage.http': request('GET', '/_usage?run=run-1234567890abcdef', []),
  'faults.http': request('PUT', '/_faults', [], rules),
};

it.runIf(separatesUsers)(`Terraform cannot act as the operator of the local AWS endpoint${notSeparated}`, async () => {
  const { port } = new URL(platform.awsEndpointUrl ?? '');
  const send = (file: string, then: string) => `exec 3<>/dev/tcp/127.0.0.1/${port}; cat ${file} >&3; ${then}`;
  const script = [
    ...Object.keys(requests).map((file) => send(file, 'head -n 1 <&3')),
    // Linux lists a connection that its process has closed as one of root's.
    send('faults.http', 'exec 3<&-; exec 3>&-'),
    'echo attacked',
  ];
  const run = await startRun(await newWorkspace({ 'auto-apply': true, 'structured-run-output-enabled': false }), {
    ...requests,
    'attack.sh': script.join('\n'),
    'main.tf':
      'resource "terraform_data" "a" {\n  provisioner "local-exec" {\n    command = "bash ./attack.sh"\n  }\n}\n',
  });
  expect((await untilFinal(run)).attributes.status).toBe('applied');
  const log = await readLog(run, 'apply');
  expect(log).toContain('attacked');
  expect(log.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 403', 'HTTP/1.1 403', 'HTTP/1.1 403']);
  expect(await (await fetch(`${platform.awsEndpointUrl}/_faults`)).json()).toEqual([]);
});
