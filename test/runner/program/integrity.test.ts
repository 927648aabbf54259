import { createHash } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { shortened } from '#run/phase-report.ts';
import { Bench, jobFor } from './support.ts';
import { until } from './until.ts';

/** A runner uses only content that the control plane has recorded, regardless of the contents of storage or disk. */

const bench = Bench.use();
const digest = (content: Uint8Array, algorithm = 'sha256') => createHash(algorithm).update(content).digest('hex');
const pack = async (name: string) =>
  Buffer.from(await packFiles({ 'main.tf': `resource "terraform_data" "${name}" {}` }));
const state = Buffer.from(JSON.stringify({ version: 4, serial: 1, lineage: 'l', outputs: {}, resources: [] }));

describe('a download of a runner', () => {
  it('is used if it has the recorded checksum', async () => {
    const archive = await pack('a');
    bench.plane.objects.set('state', state);
    const checksums = { configuration: `sha256:${digest(archive)}`, state: `md5:${digest(state, 'md5')}` };
    const planned = await bench.run(jobFor(bench.plane, archive, { checksums }));
    expect(planned.report).toMatchObject({ outcome: 'finished', counts: { additions: 1 } });
    const plan = bench.artifact('plan', 'plan') as Buffer;
    expect(planned.report?.artifacts?.plan).toBe(shortened(digest(plan)));
    const applied = await bench.run(bench.applyJob(archive, { checksums: { plan: `sha256:${digest(plan)}` } }));
    expect(applied.report).toMatchObject({ outcome: 'finished', counts: { additions: 1 } });
  });

  it.each([
    ['The configuration', { configuration: `sha256:${digest(Buffer.from('reviewed'))}` }],
    ['The state', { state: `sha256:${digest(Buffer.from('recorded'))}` }],
    ['The state', { state: `md5:${digest(Buffer.from('recorded'), 'md5')}` }],
  ])('of %s is rejected with another checksum, before Terraform starts', async (what, checksums) => {
    bench.plane.objects.set('state', state);
    const { report, log } = await bench.run(jobFor(bench.plane, await pack('a'), { checksums }));
    expect(report).toMatchObject({
      outcome: 'errored',
      message: expect.stringContaining(`${what} in storage is damaged`),
    });
    expect(report?.steps?.took.init).toBeUndefined();
    expect(log).toContain('its');
  });

  it('of a plan is rejected unless it is the reviewed one', async () => {
    const archive = await pack('evil');
    const { report } = await bench.run(jobFor(bench.plane, archive));
    expect(report?.outcome).toBe('finished');
    for (const plan of [`sha256:${digest(Buffer.from('reviewed'))}`, undefined]) {
      const applied = await bench.run(bench.applyJob(archive, { checksums: { plan } }));
      expect(applied.report?.message).toContain('The plan in storage is damaged');
    }
    expect(bench.plane.states).toEqual([]);
  });
});

it.each([
  ['that the runner keeps', 'kept', { outcome: 'errored', message: expect.stringContaining('plan file was changed') }],
  // Terraform's user can write that file: an apply starts with a copy of the runner's own.
  ['that Terraform wrote', 'out', { outcome: 'finished' }],
])('a plan file %s is not applied after a change while the runner was ready', async (_, place, report) => {
  const archive = await pack('a');
  bench.plane.keepReady();
  const { claim, record: plan } = bench.plane.offer(jobFor(bench.plane, archive));
  const runner = bench.start(claim);
  await until('the plan is reported', () => plan.report);
  const folder = join(bench.directory, 'tmp', readdirSync(join(bench.directory, 'tmp'))[0] as string);
  writeFileSync(join(folder, place, 'plan.tfplan'), 'forged');
  const apply = bench.plane.reserve({ ...jobFor(bench.plane, archive), phase: 'apply' });
  await runner.ended;
  expect(apply.report).toMatchObject(report);
});
