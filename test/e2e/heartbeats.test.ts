import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { related } from '#clients/client/client.ts';
import { finishing } from '#clients/client/text/canceling.ts';
import { type Platform, startPlatform } from '#infra/local/commands/platform.ts';
import { checkNothingWasDenied } from './support/denials.ts';
import { hasGo, withDriftProvider } from './support/drift-provider.ts';
import { impatient, missedSeconds } from './support/impatient.ts';
import { type Runner, runners, send } from './support/runners.ts';
import { newSharedFolder } from './support/shared-folder.ts';
import { slowState } from './support/slow-state.ts';
import { Client, isFinalRun, type Resource, until, untilHeld } from './support/waiting.ts';

/** Missed heartbeats, on a platform that detects them soon: dead runners, and Terraform that outlasts a cancel. */

const command = fileURLToPath(new URL('../../functions/clients/cli/stepform.mjs', import.meta.url));
const dataDir = mkdtempSync(join(tmpdir(), 'stepform-heartbeats-'));
// Terraform, possibly as another user, looks for a file there.
chmodSync(dataDir, 0o711);
const outside = newSharedFolder('cancel-');
let platform: Platform | undefined;
let client: Client;
let organization: string;
beforeAll(async () => {
  platform = await startPlatform({ dataDir, port: 0, httpsPort: 0, application: impatient() });
  ({ organization } = platform.local);
  client = new Client(platform.local.url, platform.local.token);
});
afterAll(async () => {
  await platform?.close();
  checkNothingWasDenied(dataDir);
  for (const folder of [dataDir, outside]) rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});
const ended = (run: Resource) => client.waitForRun(run.id, isFinalRun);

describe.concurrent('a runner', () => {
  /** An apply whose first resource is in the workspace's state, and which continues until its file exists. */
  const applying = async (name: string) => {
    const go = join(dataDir, `${name}.go`);
    const workspace = await client.createWorkspace(organization, name);
    const configuration = `resource "terraform_data" "quick" {}
resource "terraform_data" "slow" {
  depends_on = [terraform_data.quick]
  provisioner "local-exec" {
    command = "until [ -e ${go} ]; do sleep 0.1; done"
  }
}
resource "terraform_data" "after" {
  depends_on = [terraform_data.slow]
}`;
    const version = await client.upload(workspace.id, await packFiles({ 'main.tf': configuration }));
    const run = await client.createRun(workspace.id, { 'auto-apply': true }, version.id);
    const next = await client.createRun(workspace.id, {}, version.id);
    const state = () => client.get(`/workspaces/${workspace.id}/current-state-version`).catch(() => undefined);
    await until(state, (version) => !!version);
    const runner = () => runners(dataDir).find(({ startedBy }) => startedBy === run.id) as Runner;
    const inState = async (): Promise<string[]> =>
      (await state())?.attributes.resources.map(({ name }: { name: string }) => name) ?? [];
    return { run, next, runner, inState, go };
  };
  /** A plan that waits for a confirmation while its runner is ready. */
  const planned = async (name: string) => {
    const workspace = await client.createWorkspace(organization, name);
    const files = { 'main.tf': 'resource "terraform_data" "a" {}' };
    const version = await client.upload(workspace.id, await packFiles(files));
    const run = await client.createRun(workspace.id, {}, version.id);
    await starts(run);
    return { run, runner: () => runners(dataDir).find(({ startedBy }) => startedBy === run.id) as Runner };
  };
  const starts = (next: Resource) =>
    client.waitForRun(next.id, ({ attributes }) => attributes.actions['is-confirmable']);

  it('that is killed in an apply ends its run as errored, with the recorded state and a locked workspace', async () => {
    const { run, next, runner, inState } = await applying('killed');
    send(runner(), 'SIGKILL');
    const { attributes } = await ended(run);
    expect(attributes.status).toBe('errored');
    expect(attributes['end-reason']).toMatch(
      /^The runner stopped during the apply \(.*exit code 137\)\. The state may be/,
    );
    expect(await inState()).toContain('quick');
    // The other resource may have been created.
    expect(attributes['end-reason']).toMatch(
      /According to its log, terraform_data\.quick was done, and terraform_data\.slow was started but not finished\..*stays locked/,
    );
    const workspace = `/workspaces/${related(run, 'workspace')}`;
    const locked = await untilHeld(client, related(run, 'workspace') ?? '');
    expect(locked.attributes).toMatchObject({
      locked: true,
      'locked-reason': expect.stringMatching(/ended without its last state.*force-unlock/),
    });
    expect((await client.run(next.id)).attributes.status).toBe('pending');
    await client.call('POST', `${workspace}/actions/force-unlock`);
    await starts(next);
  });

  it('that freezes while it is ready is replaced after five seconds, not after the next sweep', async () => {
    const { run, runner } = await planned('ready');
    const frozen = runner();
    send(frozen, 'SIGSTOP');
    await client.act(run.id, 'apply');
    const { attributes } = await ended(run);
    send(frozen, 'SIGKILL');
    expect(attributes.status).toBe('applied');
    const { 'apply-queued-at': queued = '', 'applying-at': claimed = '' } = attributes['status-timestamps'];
    const seconds = (Date.parse(claimed) - Date.parse(queued)) / 1000;
    expect(seconds).toBeGreaterThanOrEqual(5);
    expect(seconds).toBeLessThan(25);
  });

  it('that freezes in an apply is stopped before another run starts', async () => {
    const { run, next, runner, inState, go } = await applying('frozen');
    const frozen = runner();
    send(frozen, 'SIGSTOP');
    // Its heartbeats are missed, so it gets the signal to stop; nothing else starts before it has ended.
    await until(
      async () => runner().desiredStatus,
      (status) => status === 'STOPPED',
    );
    // The run reports it long before it ends.
    const said = await until(
      async () => (await client.run(run.id)).attributes,
      (now) => !!now['end-reason'],
    );
    expect(said).toMatchObject({
      status: 'applying',
      'end-reason': expect.stringMatching(/^The runner stopped answering during the apply\. It is being stopped/),
    });
    expect((await client.run(next.id)).attributes.status).toBe('pending');
    send(frozen, 'SIGCONT');
    const { attributes } = await ended(run);
    expect(attributes.status).toBe('errored');
    expect(attributes['end-reason']).toMatch(/^The runner stopped answering during the apply/);
    // Terraform was interrupted: later resources were not started.
    expect(await inState()).toContain('quick');
    expect(await inState()).not.toContain('after');
    expect(existsSync(go)).toBe(false);
    writeFileSync(go, '');
    await starts(next);
  });
});

/** A cancel waits for Terraform without a time limit. */
const patientMs = 240_000;

describe.concurrent('a canceled run whose Terraform ignores the interrupt', () => {
  const start = async (name: string, configuration: Buffer) => {
    const workspace = await client.createWorkspace(organization, name);
    const version = await client.upload(workspace.id, configuration);
    const run = await client.createRun(workspace.id, { 'auto-apply': true }, version.id);
    return { workspace, run };
  };
  /** The run at the time when missed heartbeats would have been detected, or at its end. */
  const afterMissed = (run: Resource) => {
    const isLong = (at: string | null) => Date.now() - Date.parse(at ?? '') > (missedSeconds + 4) * 1000;
    return client.waitForRun(run.id, (now) => isFinalRun(now) || isLong(now.attributes['canceled-at']), patientMs);
  };

  it.skipIf(!hasGo)(
    'waits in an apply, reports the changes in progress, and ends as canceled with its state',
    async () => {
      const [made, go] = [join(outside, 'made'), join(outside, 'go')];
      const main = `resource "terraform_data" "quick" {}
resource "drift_file" "deaf" {
  depends_on = [terraform_data.quick]
  path       = "${made}"
  content    = "made"
  waits_for  = "${go}"
}
resource "terraform_data" "after" {
  depends_on = [drift_file.deaf]
}
`;
      const { workspace, run } = await start('apply', await withDriftProvider(main));
      await until(async () => existsSync(made) || isFinalRun(await client.run(run.id)), Boolean, patientMs);
      expect(existsSync(made)).toBe(true);
      const { url = '', token = '' } = platform?.local ?? {};
      const env = { PATH: process.env.PATH, HOME: dataDir, TFE_ADDRESS: url, TFE_TOKEN: token };
      const watcher = spawn(process.execPath, [command, 'runs', 'watch', run.id], { env });
      const shown = text(watcher.stdout);
      await client.act(run.id, 'cancel');
      const named = await client.waitForRun(run.id, (now) => finishing(now, Date.now()) !== undefined, patientMs);
      expect(finishing(named, Date.now())).toMatch(/^drift_file\.deaf, \d/);
      expect((await afterMissed(run)).attributes.status).toBe('applying');
      writeFileSync(go, '');
      const { attributes } = await ended(run);
      expect(attributes).toMatchObject({ status: 'canceled', 'finishing-resources': [] });
      const waits = [...(await shown).matchAll(/ for Terraform, which finishes the changes in progress: (\S+)/g)];
      expect(new Set(waits.map(([, address]) => address))).toEqual(new Set(['drift_file.deaf,']));
      const state = await client.get(`/workspaces/${workspace.id}/current-state-version`);
      const names = state.attributes.resources.map(({ name }: { name: string }) => name);
      expect(names.sort()).toEqual(['deaf', 'quick']);
      const unlocked = await until(
        () => client.get(`/workspaces/${workspace.id}`),
        ({ attributes }) => !attributes.locked,
        patientMs,
      );
      expect(unlocked.attributes['locked-reason']).toBeNull();
    },
  );

  it('waits in a plan, and ends as canceled', async () => {
    // The interrupted Terraform continues for this long.
    const slow = await slowState((missedSeconds + 8) * 1000);
    try {
      const { run } = await start('plan', await packFiles({ 'main.tf': slow.configuration }));
      await slow.asked;
      await client.act(run.id, 'cancel');
      expect((await afterMissed(run)).attributes.status).toBe('planning');
      expect((await ended(run)).attributes.status).toBe('canceled');
    } finally {
      await slow.close();
    }
  });
});
