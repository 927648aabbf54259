import { DecryptCommand, EncryptCommand, KMSClient } from '@aws-sdk/client-kms';
import { expect, it } from 'vitest';
import { Stack } from '#infra/local/host/template.ts';
import { startHost, testTemplate } from './support/application.ts';
import { temporaryFolder } from './support/functions.ts';

const home = { accountId: '000000000000', region: 'us-east-1', apiUrl: '' };
const KeyId = new Stack(testTemplate(), home).one('AWS::KMS::Key').arn;

const ask = async (host: Awaited<ReturnType<typeof startHost>>, ...orders: [does: string, input: unknown][]) => {
  const event = JSON.stringify({ orders: orders.map(([does, input]) => ({ does, input })) });
  return JSON.parse((await host.lambda.invoke('CallerFunction', event)).payload) as unknown[];
};

it('the endpoint accepts signatures and ciphertexts from before a restart', async () => {
  const folder = temporaryFolder();
  const before = await startHost(folder);
  const [, url] = (await ask(before, ['putObject', 'states/kept'], ['presignGet', 'states/kept'])) as string[];
  const kms = (host: typeof before) =>
    new KMSClient({
      region: 'us-east-1',
      credentials: { ...host.local.awsCredentials },
      endpoint: host.local.awsEndpointUrl,
    });
  const Plaintext = Buffer.from('secret');
  const { CiphertextBlob } = await kms(before).send(new EncryptCommand({ KeyId, Plaintext }));
  before.folder.publish({ ...before.local, organization: 'o', token: 't' });
  await before.close();
  await expect(fetch(url!)).rejects.toThrow();

  const after = await startHost(folder);
  expect(after.local).toEqual(before.local);
  expect(await (await fetch(url!)).text()).toBe('content of states/kept');
  const opened = await kms(after).send(new DecryptCommand({ CiphertextBlob }));
  expect(Buffer.from(opened.Plaintext!).toString()).toBe('secret');
  await after.close();
});

it.each([
  [
    'a route',
    'ApiPermission',
    /route POST \/call\/\{proxy\+\}, is not authorized to perform: lambda:InvokeFunction on .*CallerFunction/,
  ],
  ['a rule', 'CreatedPermission', /rule Created may not invoke function RecordsFunction/],
])('the start fails if %s may not invoke its function', async (_, id, message) => {
  const template = testTemplate();
  delete template.Resources[id];
  const folder = temporaryFolder();
  await expect(startHost(folder, template)).rejects.toThrow(message);
});
