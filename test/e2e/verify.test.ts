import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FaultRule } from '#infra/local/host/faults.ts';
import { operatorFetch } from '#infra/local/host/operator-client.ts';
import { storedIn } from '#test/support/stored.ts';
import { PlatformProcess } from './support/platform.ts';
import { until } from './support/waiting.ts';

/** `stepform verify` as an operator runs it, against a platform on this machine. */

interface Verified {
  result: string;
  checks: { name: string; result: string; text: string }[];
}

let platform: PlatformProcess;
beforeAll(async () => {
  platform = await PlatformProcess.start();
});
afterAll(() => platform.remove());

const stepform = (...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> =>
  new Promise((resolve) => {
    const env = { ...process.env, STEPFORM_DATA: platform.dataDir };
    execFile(
      process.execPath,
      ['functions/clients/cli/stepform.mjs', 'verify', '--local', ...args],
      { env },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });

const verify = async (...args: string[]) => {
  const { code, stdout, stderr } = await stepform('--json', ...args);
  const { result, checks } = JSON.parse(stdout) as Verified;
  return { code, result, stderr, checks, of: (name: string) => checks.find((check) => check.name === name) };
};

const inject = async (rules: FaultRule[]): Promise<void> => {
  const answer = await operatorFetch(platform.local, '/_faults', { method: 'PUT', body: JSON.stringify(rules) });
  expect(answer.status).toBe(200);
};

/** Checks of AWS itself. */
const skipped = ['stack', 'drift', 'quotas', 'rights', 'price list', 'provider cache'];

it('passes every check that this machine can make, and removes what it created', async () => {
  const { code, stderr, checks } = await verify();
  expect(checks.filter(({ result }) => result !== 'ok' && result !== 'skipped')).toEqual([]);
  expect(checks.filter(({ result }) => result === 'skipped').map(({ name }) => name)).toEqual(skipped);
  expect(checks.length).toBeGreaterThan(20);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect((await stepform('--clean')).stdout).toBe('Nothing to remove.\n');
}, 300_000);

it('leaves no states and no content of applies after the next sweeps', async () => {
  const left = (): string[] =>
    storedIn(platform.dataDir)
      .filter(({ place, content }) => /^s3\/[^/]+\/(states|runs\/[^/]+\/apply)\//.test(place) && content.length > 0)
      .map(({ place }) => place);
  const sweep = async (): Promise<string[]> => {
    const path = '/2015-03-31/functions/SweepFunction/invocations';
    await operatorFetch(platform.local, path, { method: 'POST', body: '{}', service: 'lambda' });
    return left();
  };
  expect(left().length).toBeGreaterThan(10);
  await until(sweep, ({ length }) => length === 0);
});

it('reports broken and slow integrations with an exit code', async () => {
  await inject([{ kind: 'late', service: 'aws.s3', action: 'Object Created', every: 1, ms: 31_000 }]);
  const slow = await verify('--only', 'event from S3');
  expect(slow).toMatchObject({ code: 15, result: 'differs' });
  expect(slow.of('event from S3')?.text).toMatch(/^accepted 3\d\.\d s after its upload; documented: 30 s at most$/);

  await inject([{ kind: 'refuse', service: 's3', function: 'operator', every: 1, error: 'AccessDenied' }]);
  const broken = await verify('--only', 'upload checksum');
  expect(broken).toMatchObject({ code: 1, result: 'failed' });
  expect(broken.checks.map(({ name, result }) => [name, result])).toEqual([
    ['upload checksum', 'failed'],
    ['organization', 'ok'],
  ]);
  expect(broken.of('upload checksum')?.text).toBe(
    'other content was answered with 400 AccessDenied, not 400 BadDigest',
  );
  await inject([]);
}, 240_000);

it('--clean removes what a killed check left', async () => {
  const env = { ...process.env, STEPFORM_DATA: platform.dataDir };
  const killed = spawn(process.execPath, ['infra/deployment/verify/main.ts', '--local', '--only', 'sweep'], { env });
  for await (const text of killed.stdout) if (String(text).includes('organization')) break;
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  expect((await stepform('--clean')).stdout).toMatch(/^Removed: stepform-verify-\w+\n$/);
  expect((await stepform('--clean')).stdout).toBe('Nothing to remove.\n');
});

it('an unknown check is refused, with the names of all', async () => {
  const { code, stderr } = await stepform('--only', 'everything');
  expect(code).not.toBe(0);
  expect(stderr).toMatch(/there is no such check\. Give one of .*"socket upgrade".*"OPA policy"/);
});
