import { describe, expect, it } from 'vitest';
import { archive, Bench, jobFor, type Options } from './support.ts';

const bench = Bench.use();

const plan = async (entries: Parameters<typeof archive>[0], options: Options = {}) =>
  bench.run(jobFor(bench.plane, await archive(entries), options));

const resource = 'resource "terraform_data" "a" {}';

/** Every failed phase has a framed log with the reason, a report, and leaves no files. */
const expectFailure = ({ record, code, report, log }: Awaited<ReturnType<typeof plan>>, message: RegExp): void => {
  expect(report).toMatchObject({ outcome: 'errored', message: expect.stringMatching(message) });
  expect(log).toMatch(/^Terraform( v1\.11\.4)?\non \w+\nInitializing plugins and modules\.\.\.\n/);
  expect(log).toMatch(/Error: /);
  expect([record.log[0], record.log.at(-1)]).toEqual([0x02, 0x03]);
  expect(bench.artifact(record.job.phase, 'log')?.equals(record.log)).toBe(true);
  expect(code).toBe(0);
  expect(bench.leftovers()).toEqual([]);
};

describe('a plan fails', () => {
  it('on a syntax error, which the report names', async () => {
    const failed = await plan({ 'main.tf': 'resource "terraform_data" "a" {\n  input = \n}' });
    expectFailure(failed, /^Invalid expression: Expected the start of an expression.* \(main\.tf line 2\)/);
    expect(failed.report?.hasChanges).toBeUndefined();
    expect(failed.report?.artifacts).toEqual({ log: expect.any(String) });
  });

  it('on an error of Terraform itself, also in JSON', async () => {
    const failed = await plan(
      { 'main.tf': 'variable "n" {\n  type = number\n}\n' },
      { structuredOutput: true, variables: [{ key: 'n', value: 'many' }] },
    );
    expect(failed.report?.message).toMatch(/^Invalid value for input variable/);
    expect(failed.log).toContain('"type":"diagnostic"');
  });

  it('on invalid HCL, naming the variable', async () => {
    const failed = await plan(
      { 'main.tf': 'variable "subnets" {}\nvariable "ok" {}' },
      {
        variables: [
          { key: 'subnets', value: '["a", ', hcl: true },
          { key: 'ok', value: 'x' },
        ],
      },
    );
    expectFailure(failed, /\(variables\/subnets\.tfvars line \d\)/);
  });

  it.each([
    [
      'a variable’s name',
      { variables: [{ key: '../x', value: '1' }] },
      /^"\.\.\/x" is not a valid name for a Terraform variable/,
    ],
    [
      'an environment variable',
      { variables: [{ key: 'A=B', value: '1', category: 'env' as const }] },
      /environment variable "A=B"/,
    ],
    [
      'TFE_PARALLELISM',
      { variables: [{ key: 'TFE_PARALLELISM', value: 'lots', category: 'env' as const }] },
      /TFE_PARALLELISM is "lots"/,
    ],
    ['the working directory', { workingDirectory: 'prod' }, /no directory "prod": correct the workspace's/],
    ['a working directory outside', { workingDirectory: '../..' }, /no directory "\.\.\/\.\."/],
  ])('on an invalid setting: %s', async (_, options, message) => {
    expectFailure(await plan({ 'main.tf': resource }, options), message);
  });

  it('quickly, with the reason, without a matching binary and network', async () => {
    const job = jobFor(bench.plane, await archive({ 'main.tf': resource }), { terraform: { version: '1.2.9' } });
    const started = Date.now();
    const failed = await bench.run(job, { STEPFORM_TERRAFORM_RELEASES: 'http://127.0.0.1:9/terraform' });
    expect(failed.report?.message).toMatch(
      /^Terraform 1\.2\.9 was not found: the one on the runner's PATH is 1\.11\.4/,
    );
    expect(failed.log).toMatch(/^Terraform v1\.2\.9\n/);
    expect(Date.now() - started).toBeLessThan(120_000);
  });

  it('on another backend, before Terraform starts', async () => {
    const failed = await plan({ 'main.tf': `terraform {\n  backend "s3" {\n    bucket = "b"\n  }\n}\n${resource}` });
    expectFailure(failed, /^The configuration declares backend "s3" \(main\.tf line 2\), but this platform stores/);
    expect(failed.log).not.toContain('Initializing the backend');
  });
});

describe('an archive', () => {
  it.each([
    ['without files', () => archive({}), /has no files: upload one with at least one \.tf file/],
    ['that escapes', () => archive({ '../x.tf': 'x' }), /"\.\.\/x\.tf", which is outside of its directory/],
  ])('%s is rejected', async (_, make, message) => {
    expectFailure(await bench.run(jobFor(bench.plane, await make())), message);
  });

  it('that is missing is reported', async () => {
    const job = jobFor(bench.plane, await archive({ 'main.tf': resource }));
    bench.plane.objects.delete('configuration');
    const { record, report } = await bench.run(job);
    expect(report?.message).toMatch(/^The configuration is not in storage: upload it again/);
    expect(record.log.at(-1)).toBe(0x03);
    // The test double records a 404 as a violation; here it is expected.
    expect(bench.plane.violations.splice(0)).toEqual(['404 "NoSuchKey"']);
  });
});

describe('an apply fails', () => {
  const half = `
resource "terraform_data" "ok" {}
resource "terraform_data" "bad" {
  input = terraform_data.ok.id
  provisioner "local-exec" {
    command = "exit 3"
  }
}
`;
  it('partway, and keeps the state', async () => {
    const failed = await bench.planAndApply(await archive({ 'main.tf': half }));
    expectFailure(
      failed,
      /^local-exec provisioner error: Error running command .* \(terraform_data\.\w+, main\.tf line 5\)/,
    );
    expect(failed.report).toMatchObject({ counts: { additions: 1 } });
    const stored = bench.plane.current();
    expect(stored).toMatchObject({ id: failed.report?.stateVersionId, intermediate: false });
    const { resources } = JSON.parse(stored?.content?.toString() ?? '');
    expect(
      resources.map((one: { name: string; instances: { status?: string }[] }) => [one.name, one.instances[0]?.status]),
    ).toEqual([
      ['bad', 'tainted'],
      ['ok', undefined],
    ]);
  });

  it('without the version of Terraform that made the plan', async () => {
    const { plane } = bench;
    const plan = await archive({ 'plan.tfplan': 'x', 'terraform-version': '1.0.99' });
    plane.objects.set('run-1234567890abcdef/plan/plan', plan);
    const job = bench.applyJob(await archive({ 'main.tf': resource }), { terraform: { version: '~> 1.0' } });
    const failed = await bench.run(job, { STEPFORM_TERRAFORM_RELEASES: 'http://127.0.0.1:9/terraform' });
    expect(failed.report?.message).toMatch(/^Terraform 1\.0\.99 was not found: /);
  });

  it('without its plan', async () => {
    const job = jobFor(bench.plane, await archive({ 'main.tf': resource }), { phase: 'apply' });
    expectFailure(await bench.run(job), /^There is no plan to apply: start a new run/);
    expect(bench.plane.states).toEqual([]);
  });

  it('if its state cannot be stored, reports this, and keeps the errored state', async () => {
    const configuration = await archive({ 'main.tf': resource });
    // Another user's state is newer: the upload is rejected, and a retry cannot succeed.
    bench.plane.states.push({
      id: 'sv-x',
      serial: 99,
      lineage: 'x',
      md5: '',
      size: 0,
      intermediate: false,
      completed: false,
    });
    const failed = await bench.planAndApply(configuration);
    expect(failed.report).toMatchObject({
      outcome: 'errored',
      message: expect.stringMatching(
        /^The state of this apply \(serial 1\) could not be saved to the workspace, which still has no state: .*Terraform itself succeeded\.$/,
      ),
      unsavedState: { serial: 1, lineage: expect.any(String), md5: expect.any(String) },
    });
    expect(failed.report?.message).toContain(failed.report?.stateProblem);
    expect(failed.log).toContain('could not be saved to the workspace');
    const kept = bench.plane.objects.get('run-1234567890abcdef/errored-state');
    expect(JSON.parse(String(kept)).resources).toHaveLength(1);
    expect(bench.plane.violations.splice(0)).toEqual([expect.stringContaining('serial 1 after 99')]);
  });
});
