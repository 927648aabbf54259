import { gunzipSync } from 'node:zlib';
import { extract } from 'tar-stream';
import { describe, expect, it } from 'vitest';
import { archive, Bench, jobFor, textOf } from './support.ts';
import { until } from './until.ts';

const bench = Bench.use();

const small = `
variable "who" { type = string }
resource "terraform_data" "a" { input = var.who }
resource "terraform_data" "b" { input = terraform_data.a.output }
output "greeting" { value = "hello \${var.who}" }
output "place" { value = terraform.workspace }
`;
const variables = [{ key: 'who', value: 'world' }];
const head = /^Terraform v1\.11\.4\non linux_\w+\nInitializing plugins and modules\.\.\.\n/;

/** Uploads for the current state after the run has ended. */
const stateJson = () => JSON.parse(bench.plane.objects.get(`${bench.plane.current()?.id}.json`)?.toString() ?? 'null');

const stateOf = () => JSON.parse(bench.plane.current()?.content?.toString() ?? 'null');

let state: string | undefined;
/** The state of the small configuration, from the first test that needs it. */
const applied = async (): Promise<string> => {
  if (state === undefined) {
    await bench.planAndApply(await archive({ 'main.tf': small }), { variables });
    state = bench.plane.current()?.content?.toString() ?? '';
    bench.plane.states.length = 0;
  }
  return state;
};

describe('a plan that is applied', () => {
  it('sees the files of its configuration, and none of the runner', async () => {
    const main = `
terraform {
  cloud {
    organization = "acme"
    workspaces { name = "network" }
  }
}
resource "terraform_data" "a" { input = sha1(join("", [for file in fileset(path.module, "*") : filesha1(file)])) }
output "files" { value = setunion(fileset(path.module, "*"), fileset(path.module, "sub/**")) }
`;
    const configuration = await archive({ 'main.tf': main, 'sub/a.txt': 'a' });
    const apply = await bench.planAndApply(configuration);
    // If the apply saw other files than its plan, Terraform would fail.
    expect([apply.report?.outcome, stateOf().outputs.files.value]).toEqual(['finished', ['main.tf', 'sub/a.txt']]);
  });

  it('continues at once with the apply that its report reserved, and requests a URL only for an expired one', async () => {
    const { plane } = bench;
    const configuration = await archive({ 'main.tf': small });
    const { runId } = jobFor(plane, configuration);
    const urls = (phase: string, ...artifacts: string[]) =>
      Object.fromEntries(artifacts.map((one) => [one, plane.presigned(`${runId}/${phase}/${one}`)]));
    const uploadUrls = urls('plan', 'plan', 'plan-json', 'plan-json-redacted', 'log');
    const expiring = `/objects/${runId}/plan/plan-json`;
    let puts = 0;
    plane.fault = (path, method) => (method === 'PUT' && path === expiring && ++puts === 1 ? 'expired' : undefined);
    const job = jobFor(plane, configuration, { variables });
    const { claim, record: plan } = plane.offer({ ...job, uploadUrls });
    const of = jobFor(plane, configuration, { variables });
    const apply = plane.reserve({ ...of, phase: 'apply', uploadUrls: urls('apply', 'log') });
    expect(await bench.start(claim).ended).toBe(0);
    expect(Object.keys(plan.report?.artifacts ?? {}).sort()).toEqual([
      'log',
      'plan',
      'plan-json',
      'plan-json-redacted',
    ]);
    expect(apply.report).toMatchObject({
      outcome: 'finished',
      counts: { additions: 2 },
      artifacts: { log: expect.any(String) },
    });
    expect(puts).toBe(2);
    expect(plane.violations.splice(0)).toEqual([expect.stringContaining('Request has expired')]);
    expect(plane.calls.filter((call) => /uploads|ready/.test(call))).toEqual(['POST /runner/v1/uploads']);
  });

  it('encloses small artifacts in its reports, and uploads the others', async () => {
    const { plane } = bench;
    plane.takesLater = true;
    const configuration = await archive({ 'main.tf': small });
    const puts = () =>
      plane.calls.splice(0).flatMap((call) => /^PUT .*\/(plan|apply)\/(.*)$/.exec(call)?.slice(1).join(' ') ?? []);
    plane.keepReady();
    const { claim, record: plan } = plane.offer({
      ...jobFor(plane, configuration, { variables }),
      enclosedBytes: 100_000,
    });
    const apply = plane.reserve({
      ...jobFor(plane, configuration, { variables }),
      phase: 'apply',
      enclosedBytes: 100_000,
    });
    expect(await bench.start(claim).ended).toBe(0);
    expect(puts()).toEqual(['plan plan', 'plan provider-schemas']);
    expect(Object.keys(plan.report?.artifacts ?? {}).sort()).toEqual([
      'log',
      'plan',
      'plan-json',
      'plan-json-redacted',
    ]);
    expect(JSON.parse(bench.artifact('plan', 'plan-json')?.toString() ?? '')).toMatchObject({ format_version: '1.2' });
    expect(textOf(plan)).toContain('Plan: 2 to add');
    expect(apply.report).toMatchObject({ outcome: 'finished', artifacts: { log: expect.any(String) } });
    expect(textOf(apply)).toContain('Apply complete!');

    plane.ready = { action: 'exit' };
    const tight = { ...jobFor(plane, configuration, { variables }), enclosedBytes: 100 };
    expect(Object.keys((await bench.run(tight)).report?.artifacts ?? {})).toHaveLength(4);
    expect(puts().toSorted()).toEqual(
      ['log', 'plan', 'plan-json', 'plan-json-redacted', 'provider-schemas'].map((one) => `plan ${one}`),
    );
    // The report may be rejected, and then the log must contain the reason.
    const failing = await archive({ 'main.tf': 'resource' });
    const failed = { ...jobFor(plane, failing), enclosedBytes: 100_000 };
    expect((await bench.run(failed)).report).toMatchObject({
      outcome: 'errored',
      artifacts: { log: expect.any(String) },
    });
    expect(puts()).toEqual(['plan log']);
  });

  it('continues in the same directory when the runner gets the apply', async () => {
    const { plane } = bench;
    plane.takesLater = true;
    const configuration = await archive({ 'main.tf': small });
    plane.keepReady();
    const { claim, record: plan } = plane.offer(jobFor(plane, configuration, { variables }));
    const runner = bench.start(claim);
    await until('the plan is reported', () => plan.report);
    await until('the runner is ready', () => plane.calls.filter((call) => call.endsWith('/ready')).length > 1);

    const apply = plane.reserve({ ...jobFor(plane, configuration, { variables }), phase: 'apply' });
    expect(await runner.ended).toBe(0);

    expect(plan.report).toMatchObject({
      outcome: 'finished',
      hasChanges: true,
      counts: { additions: 2, changes: 0, destructions: 0, imports: 0 },
      terraformVersion: expect.stringMatching(/^\d+\.\d+\.\d+/),
    });
    expect(Object.keys(plan.report?.artifacts ?? {}).sort()).toEqual([
      'log',
      'plan',
      'plan-json',
      'plan-json-redacted',
    ]);
    expect(plan.report?.steps?.took).toMatchObject({ init: expect.any(Number), plan: expect.any(Number) });
    expect(textOf(plan)).toMatch(head);
    expect(textOf(plan)).not.toMatch(/\[(TRACE|DEBUG)\]/);
    expect(plan.log.toString()).toContain('\u001B[32m+\u001B[0m create');
    expect(bench.artifact('plan', 'log')?.equals(plan.log)).toBe(true);
    expect(apply.report).toMatchObject({
      outcome: 'finished',
      counts: { additions: 2 },
      artifacts: { log: expect.any(String) },
    });
    expect(textOf(apply)).toMatch(head);
    expect(textOf(apply)).toMatch(
      /modules\.\.\.\nterraform_data\.a: Creating[\s\S]+Apply complete! Resources: 2 added/,
    );
    expect(stateOf().outputs.greeting.value).toBe('hello world');
    expect(stateOf().outputs.place.value).toBe('network');
    expect(apply.report?.stateVersionId).toBe(plane.current()?.id);
    expect(plane.current()?.intermediate).toBe(false);
    expect(JSON.parse(bench.artifact('plan', 'provider-schemas')?.toString() ?? '')).toMatchObject({
      provider_schemas: { 'terraform.io/builtin/terraform': { resource_schemas: { terraform_data: {} } } },
    });
    expect(stateJson().values.outputs.greeting).toMatchObject({ value: 'hello world', sensitive: false });
    expect(bench.leftovers()).toEqual([]);

    const names: string[] = [];
    const tar = extract();
    tar.end(gunzipSync(bench.artifact('plan', 'plan') as Buffer));
    for await (const entry of tar) {
      names.push(entry.header.name);
      entry.resume();
    }
    expect(names, 'the files that another runner needs').toEqual(['plan.tfplan', 'terraform-version']);
  });

  it('continues in another runner, with state, lock file and working directory', async () => {
    const { plane } = bench;
    const configuration = await archive({
      'live/eu/main.tf': `${small}\nmodule "m" {\n  source = "../../modules/m"\n}`,
      'modules/m/m.tf': 'resource "terraform_data" "inner" {}',
    });
    const options = { variables, workingDirectory: 'live/eu/' };
    await bench.run(jobFor(plane, configuration, options));
    const first = await bench.run(bench.applyJob(configuration, options));
    expect(first.report).toMatchObject({ outcome: 'finished', counts: { additions: 3 } });
    expect(first.log).toMatch(head);
    const { serial } = stateOf();

    const state = plane.current()?.content?.toString();
    const changed = { ...options, state, variables: [{ key: 'who', value: 'moon' }] };
    plane.takesLater = true;
    await bench.run(jobFor(plane, configuration, changed));
    const second = await bench.run(bench.applyJob(configuration, changed));
    expect(second.report).toMatchObject({ counts: { additions: 0, changes: 2, destructions: 0 } });
    expect(stateOf().serial).toBeGreaterThan(serial);
    expect(stateOf().outputs.greeting.value).toBe('hello moon');
    expect(stateJson().values.root_module.child_modules[0].resources[0].address).toBe('module.m.terraform_data.inner');
  });

  it('can destroy with the empty configuration that the command line sends', async () => {
    const operation = { isDestroy: true, refresh: false };
    const destroyed = await bench.planAndApply(await archive({}), { state: await applied(), operation });
    expect(destroyed.report).toMatchObject({ outcome: 'finished', counts: { destructions: 2 } });
    expect(stateOf().resources).toEqual([]);
  });

  it('passes ephemeral variables to the apply again', async () => {
    const configuration = await archive({
      'main.tf': 'variable "e" {\n  type = string\n  ephemeral = true\n}\nresource "terraform_data" "a" {}',
    });
    const applied = await bench.planAndApply(configuration, {
      variables: [
        { key: 'e', value: 'short-lived', sensitive: true },
        { key: 'undeclared', value: 'x' },
      ],
    });
    expect(applied.report).toMatchObject({ outcome: 'finished', counts: { additions: 1 } });
    expect(applied.log).not.toContain('undeclared');
  });
});

describe('a plan', () => {
  it('without changes does not wait for an apply', async () => {
    const configuration = await archive({ 'main.tf': small });
    const state = await applied();
    bench.plane.keepReady();
    bench.plane.calls.length = 0;
    const { report, code } = await bench.run(jobFor(bench.plane, configuration, { variables, state }));
    expect(report).toMatchObject({ outcome: 'finished', hasChanges: false, counts: { additions: 0 } });
    expect(code).toBe(0);
    expect(bench.plane.calls).not.toContain('POST /runner/v1/ready');
  });

  it('follows the run’s options', async () => {
    const configuration = await archive({ 'main.tf': small });
    const state = await applied();
    const other = [{ key: 'who', value: 'mars' }];
    const plan = async (operation: object) =>
      (await bench.run(jobFor(bench.plane, configuration, { variables: other, state, operation }))).report;
    // Without the target, the other resource would change.
    const one = ['terraform_data.a'];
    expect(await plan({ replaceAddrs: one, targetAddrs: one })).toMatchObject({
      counts: { additions: 1, changes: 0, destructions: 1 },
    });
    expect(await plan({ refreshOnly: true })).toMatchObject({ counts: { changes: 0 } });
  });

  it('with changed outputs only is applied, and stored compressed too if it is large', async () => {
    const long = `output "long" { value = [for n in range(1000) : "\${n} ${'long '.repeat(30)}"] }`;
    const stored = await bench.run(jobFor(bench.plane, await archive({ 'main.tf': long })));
    expect(stored.report).toMatchObject({ hasChanges: true, counts: { additions: 0 } });
    expect(stored.report?.artifacts).toHaveProperty('plan-json-redacted-gzip');
    const compressed = bench.artifact('plan', 'plan-json-redacted-gzip') ?? Buffer.of();
    expect(gunzipSync(compressed)).toEqual(bench.artifact('plan', 'plan-json-redacted'));
    expect(compressed.length).toBeLessThan(100_000);
  });

  it('has JSON lines with the redacted plan on request', async () => {
    const configuration = await archive({
      'main.tf': `${small}\nvariable "p" {\n  sensitive = true\n}\nresource "terraform_data" "s" { input = var.p }`,
    });
    const job = jobFor(bench.plane, configuration, {
      variables: [...variables, { key: 'p', value: 'hunter2!', sensitive: true }],
      structuredOutput: true,
    });
    const json = await bench.run(job);
    expect(json.log).toMatch(head);
    expect(json.log).toContain('"type":"planned_change"');
    expect(json.report?.artifacts).toHaveProperty('plan-json-redacted');
    const redacted = bench.artifact('plan', 'plan-json-redacted')?.toString() ?? '';
    expect(redacted).not.toContain('hunter2!');
    expect(JSON.parse(redacted)).toMatchObject({
      plan_format_version: '1.2',
      resource_changes: [
        { address: 'terraform_data.a' },
        {},
        { change: { after: { input: '(sensitive value, changed)' } } },
      ],
      provider_schemas: { 'terraform.io/builtin/terraform': { resource_schemas: { terraform_data: { version: 0 } } } },
    });
    expect(bench.artifact('plan', 'plan-json')?.toString()).toContain('hunter2!');
  });

  it('generates configuration for imports if allowed', async () => {
    const configuration = await archive({ 'main.tf': 'import {\n  to = terraform_data.x\n  id = "some-id"\n}' });
    const operation = { allowConfigGeneration: true };
    const { report } = await bench.run(jobFor(bench.plane, configuration, { operation }));
    expect(report).toMatchObject({ outcome: 'finished', counts: { imports: 1 }, generatedConfiguration: true });
    expect(bench.artifact('plan', 'generated-configuration')?.toString()).toContain('resource "terraform_data" "x"');
  });
});

it('a debugging run has Terraform’s trace in its log', async () => {
  const configuration = await archive({ 'main.tf': small });
  const traced = await bench.run(jobFor(bench.plane, configuration, { variables, operation: { debug: true } }));
  expect(traced.report?.outcome).toBe('finished');
  expect(traced.log).toContain('[TRACE]');
});

it('a backend "remote" is replaced, and the state and records of another machine are ignored', async () => {
  const remote =
    'backend "remote" {\n    hostname = "example.com"\n    organization = "a"\n    workspaces { \n name = "x" \n }\n  }';
  const configuration = await archive({
    'main.tf': `terraform {\n  ${remote}\n}\n${small}`,
    'terraform.tfstate': JSON.stringify({
      version: 4,
      terraform_version: '1.11.4',
      serial: 7,
      lineage: 'theirs',
      outputs: { o: { value: 1, type: 'number' } },
      resources: [],
    }),
    'terraform.tfstate.d/other/terraform.tfstate': '{}',
    '.terraform/terraform.tfstate': '{"version":3,"backend":{"type":"s3","config":{},"hash":1}}',
    '.terraform/environment': 'another',
  });
  const { report, plan } = await bench.planAndApply(configuration, { variables });
  expect(report).toMatchObject({ outcome: 'finished', counts: { additions: 2 } });
  expect(textOf(plan)).toContain('It is ignored: this platform stores the state.');
  expect(stateOf().lineage).not.toBe('theirs');
  expect(stateOf().outputs.greeting.value).toBe('hello world');
});
