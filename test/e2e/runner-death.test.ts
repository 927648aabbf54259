import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packFiles } from '../../functions/cli/archive.ts';
import { Client, isFinalRun, type Resource, until } from '../../functions/client/client.ts';
import { type Platform, startPlatform, synthesizedApplication } from '../../infra/local/platform.ts';
import type { Template } from '../../infra/local/template.ts';
import { checkNothingWasDenied } from './support/denials.ts';
import { type Runner, runners, send } from './support/runners.ts';

/** The application as it is, but for the seconds in which a missed beat is noticed. */
const impatient = async () => {
  const application = await synthesizedApplication();
  const text = JSON.stringify(application.template);
  const shorter = text
    .replaceAll(/(\\"HeartbeatSeconds\\":)60\b/g, (_, name) => `${name}10`)
    .replaceAll('"HEARTBEAT_SECONDS":"5"', '"HEARTBEAT_SECONDS":"1"');
  expect(shorter).not.toBe(text);
  return { ...application, template: JSON.parse(shorter) as Template };
};

describe.concurrent('a runner that dies in an apply ends its run as errored, keeps its state, and the next run starts:', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'stepform-death-'));
  // Terraform, as whatever user, looks for a file there.
  chmodSync(dataDir, 0o711);
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
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 });
  });

  /** An apply whose first resource is in the workspace's state, and which goes on until its file is there. */
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
    await until(state, (version) => !!version, 240_000);
    const runner = () => runners(dataDir).find(({ startedBy }) => startedBy === run.id) as Runner;
    const inState = async (): Promise<string[]> =>
      (await state())?.attributes.resources.map(({ name }: { name: string }) => name) ?? [];
    return { run, next, runner, inState, go };
  };
  const ended = (run: Resource) => client.waitForRun(run.id, isFinalRun, 240_000);
  const starts = (next: Resource) =>
    client.waitForRun(next.id, ({ attributes }) => attributes.actions['is-confirmable'], 240_000);

  it('killed', async () => {
    const { run, next, runner, inState } = await applying('killed');
    send(runner(), 'SIGKILL');
    const { attributes } = await ended(run);
    expect(attributes.status).toBe('errored');
    expect(attributes['end-reason']).toMatch(
      /^The runner stopped during the apply \(.*exit code 137\)\. The state may be/,
    );
    expect(await inState()).toContain('quick');
    await starts(next);
  });

  it('frozen, and resumed after its run has ended', async () => {
    const { run, next, runner, inState, go } = await applying('frozen');
    const frozen = runner();
    send(frozen, 'SIGSTOP');
    // Its beats are missed, and it is asked to go; nothing else starts before it has.
    await until(
      async () => runner().desiredStatus,
      (status) => status === 'STOPPED',
      240_000,
    );
    expect((await client.run(run.id)).attributes.status).toBe('applying');
    expect((await client.run(next.id)).attributes.status).toBe('pending');
    send(frozen, 'SIGCONT');
    const { attributes } = await ended(run);
    expect(attributes.status).toBe('errored');
    expect(attributes['end-reason']).toMatch(/^The runner stopped answering during the apply/);
    // It was interrupted: what came after was not begun.
    expect(await inState()).toContain('quick');
    expect(await inState()).not.toContain('after');
    expect(existsSync(go)).toBe(false);
    writeFileSync(go, '');
    await starts(next);
  });
});
