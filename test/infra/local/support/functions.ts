import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FunctionProperties, Lambda } from '#infra/local/aws/lambda/lambda.ts';
import { Usage } from '#infra/local/aws/lambda/usage.ts';
import { Logs } from '#infra/local/aws/logs/logs.ts';
import type { Resource } from '#infra/local/host/template.ts';

const folders: string[] = [];
process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Removed when the test process ends. */
export const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'stepform-test-'));
  folders.push(folder);
  return folder;
};

/** Writes a bundle whose handler is the given function source. */
const writeBundle = (folder: string, name: string, handler: string, before = ''): string => {
  mkdirSync(join(folder, name), { recursive: true });
  const file = join(folder, name, 'index.js');
  writeFileSync(file, `${before}\nexports.handler = ${handler};\n`);
  return file;
};

export interface TestFunction {
  handler: string;
  before?: string;
  environment?: Record<string, string>;
  timeout?: number;
}

export const arnOf = (name: string): string => `arn:aws:lambda:us-east-1:000000000000:function:${name}`;

/** A Lambda host with functions given as source text. */
export const hostFunctions = (functions: Record<string, TestFunction>) => {
  const folder = temporaryFolder();
  const usage = new Usage();
  const logs = new Logs(join(folder, 'logs'));
  const resources = Object.entries(functions).map(
    ([id, { environment, timeout }]): Resource<FunctionProperties> => ({
      id,
      type: 'AWS::Lambda::Function',
      ref: id,
      arn: arnOf(id),
      properties: { Role: 'Role', Timeout: timeout ?? 10, MemorySize: 256, Environment: { Variables: environment } },
    }),
  );
  const lambda = new Lambda({
    functions: resources,
    bundleOf: (id) => writeBundle(folder, id, functions[id]!.handler, functions[id]!.before),
    credentialsOf: (id) => ({ accessKeyId: `KEY${id}`, secretAccessKey: 's', sessionToken: 't' }),
    environment: { AWS_ENDPOINT_URL: 'http://127.0.0.1:9' },
    region: 'us-east-1',
    usage,
    logs,
  });
  const call = async (name: string, event: unknown = {}): Promise<unknown> =>
    JSON.parse((await lambda.invoke(name, JSON.stringify(event))).payload);
  return { lambda, logs, usage, folder, call };
};
