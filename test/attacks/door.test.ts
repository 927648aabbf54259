import {
  globSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { platform } from '#runner/program/binary/platform.ts';
import { hasGo, withUnpackedProvider } from '#test/e2e/support/drift-provider.ts';
import { archive, Bench, jobFor, type Options, textOf } from '#test/runner/program/support.ts';
import { until } from '#test/runner/program/until.ts';
import { zip } from '#test/runner/program/zip.ts';
import { initCode, notSeparated, separatesUsers } from './plan-code.ts';

/** Code that runs in `terraform init`, and the files that it leaves in the run's folders for a runner that is root. */

const bench = Bench.use();
const address = 'registry.example.com/acme/fake';
const secret = '# of another organization';

/** A folder of root with files that Terraform's user cannot write. */
let victim: string;
beforeEach(() => {
  victim = join(bench.directory, 'victim');
  mkdirSync(victim);
  writeFileSync(join(victim, 'file'), secret);
  writeFileSync(join(victim, 'private'), secret, { mode: 0o600 });
});
const untouched = () => [
  readdirSync(victim),
  ...['file', 'private'].map((name) => readFileSync(join(victim, name), 'utf8')),
];

const variables = [{ key: 'GIT_SSH_COMMAND', value: 'sh ./ssh.sh', category: 'env' as const }];
const plain = 'resource "terraform_data" "a" {}\n';

/** A run whose `init` executes this script in the working directory. */
const attack = async (script: string, options: Options = {}, main = plain) => {
  const within = options.workingDirectory ? `${options.workingDirectory}/` : '';
  const files = Object.entries({ 'main.tf': main, ...initCode(script) });
  const content = await archive(Object.fromEntries(files.map(([name, text]) => [within + name, text])));
  const job = jobFor(bench.plane, content, { ...options, variables: [...variables, ...(options.variables ?? [])] });
  return { content, job };
};

describe.runIf(separatesUsers)(`a link that init leaves${notSeparated}`, () => {
  it('in place of the override file of provider sets is replaced, and not followed', async () => {
    const mirror = join(bench.directory, 'mirror', address);
    mkdirSync(mirror, { recursive: true });
    const program = zip('terraform-provider-fake_v1.2.3', Buffer.from('#!/bin/sh\nexit 1\n'));
    writeFileSync(join(mirror, `terraform-provider-fake_1.2.3_${platform}.zip`), program);
    const settings = join(bench.directory, 'mirror.tfrc');
    writeFileSync(
      settings,
      `provider_installation {\n  filesystem_mirror {\n    path = "${join(bench.directory, 'mirror')}"\n  }\n}\n`,
    );
    const { job } = await attack(
      `ln -s ${victim}/file stepform_provider_sets_override.tf\n`,
      { variables: [{ key: 'TF_CLI_CONFIG_FILE', value: settings, category: 'env' }] },
      `terraform {\n  required_providers {\n    fake = { source = "${address}" }\n  }\n}\n`,
    );
    const set = {
      name: 'of all',
      source: address,
      configuration: 'provider "fake" {}',
      localName: 'fake',
      variables: [],
    };
    const { log } = await bench.run({ ...job, providerSets: [set] });
    expect(log).toContain('Provider set of all configures');
    expect(untouched()).toEqual([['file', 'private'], secret, secret]);
  }, 60_000);

  it('in place of the working directory ends the run with an error that names it', async () => {
    const script = `mv ../../envs ../../moved\nmkdir ../../envs\nln -s ${victim} ../../envs/prod\n`;
    const { job } = await attack(script, { workingDirectory: 'envs/prod' });
    const { report } = await bench.run(job);
    expect(untouched()).toEqual([['file', 'private'], secret, secret]);
    expect(report?.message).toMatch(/envs\/prod is a symbolic link, not a folder: code of the configuration/);
  }, 60_000);

  it('in place of the values of variables is replaced, and not followed', async () => {
    // The file with the flags cannot be written, so that the runner writes the values again after init.
    const { job } = await attack(`rm ../variables/*\nln -s ${victim}/file ../variables/workspace.tfvars.json\n`, {
      variables: [
        { key: 'value', value: 'of this run' },
        { key: 'TFE_PARALLELISM', value: 'many', category: 'env' },
      ],
    });
    const { report } = await bench.run(job);
    expect(report?.message).toContain('TFE_PARALLELISM');
    expect(untouched()).toEqual([['file', 'private'], secret, secret]);
  }, 60_000);

  it('in place of the state brings no content of its target into the apply', async () => {
    const { plane } = bench;
    const stateWith = (value: string) =>
      JSON.stringify({
        version: 4,
        terraform_version: '1.11.4',
        serial: 1,
        lineage: 'same',
        outputs: { live: { value, type: 'string' } },
        resources: [],
      });
    writeFileSync(join(victim, 'private'), stateWith(secret));
    writeFileSync(join(victim, 'file'), stateWith('own'));
    // Another run of the attacker changes this link once the runner has followed it.
    const flip = join(bench.directory, 'flip');
    symlinkSync(join(victim, 'private'), flip);
    // Terraform takes a while to read this, and reads the state afterwards.
    const bulk = `locals {\n  bulk = [${'1, '.repeat(60_000)}]\n}\n`;
    const command = 'cat ../state/network/terraform.tfstate';
    const main = `${bulk}resource "terraform_data" "a" {\n  provisioner "local-exec" {\n    command = "${command}"\n  }\n}\n`;
    const script = `rm ../state/network/terraform.tfstate\nln -s ${flip} ../state/network/terraform.tfstate\n`;
    const state = stateWith('own');
    const { content, job } = await attack(script, { state }, main);
    plane.keepReady();
    const { claim, record: plan } = plane.offer(job);
    const runner = bench.start(claim);
    const isSeen = () => isRecorded(join(bench.directory, 'tmp'));
    for (const end = Date.now() + 30_000; !isSeen() && Date.now() < end; ) await wait(5);
    expect(isSeen()).toBe(true);
    unlinkSync(flip);
    symlinkSync(join(victim, 'file'), flip);
    await until('the plan is reported', () => plan.report);
    expect(plan.report).toMatchObject({ outcome: 'finished' });
    const apply = plane.reserve({ ...jobFor(plane, content, { state }), phase: 'apply' });
    await runner.ended;
    expect(textOf(apply)).toContain('"live"');
    expect(textOf(apply)).not.toContain(secret);
    expect(readFileSync(join(victim, 'private'), 'utf8')).toBe(stateWith(secret));
  }, 60_000);
});

/** Whether the runner has written the last file of its record; a folder may be removed meanwhile. */
const isRecorded = (folder: string): boolean =>
  globSync('stepform-*/kept/configuration/zz_stepform_override.tf', { cwd: folder }).some((file) =>
    lstatSync(join(folder, file), { throwIfNoEntry: false })?.isFile(),
  );

describe.skipIf(!hasGo)('a provider that is bundled unpacked', () => {
  const main = 'resource "drift_file" "a" {\n  path = "a.txt"\n  content = "a"\n}\n';

  it('plans and applies, and its schemas are kept once for its lock file', async () => {
    const environment = { STEPFORM_PROVIDER_CACHE: join(bench.directory, 'providers') };
    const content = await withUnpackedProvider(main);
    bench.plane.takesLater = true;
    const planned = async () => bench.run(jobFor(bench.plane, content, { structuredOutput: true }), environment);
    const { report } = await planned();
    expect(report).toMatchObject({ outcome: 'finished', counts: { additions: 1 } });
    const applied = await bench.run(bench.applyJob(content), environment);
    expect(applied.report).toMatchObject({ outcome: 'finished', counts: { additions: 1 } });
    if (separatesUsers) expect(readdirSync(join(bench.directory, 'cache', 'schemas'))).toHaveLength(1);
  }, 120_000);
});

it('an archive that ends after the header of a large file ends the run at once', async () => {
  const tar = gunzipSync(await archive({ 'main.tf': plain, 'large.bin': Buffer.alloc(3_000_000) }));
  const { report } = await bench.run(jobFor(bench.plane, gzipSync(tar.subarray(0, 1024 + 512))));
  expect(report?.message).toContain('The configuration archive is cut short: upload it again.');
});
