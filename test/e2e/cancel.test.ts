import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { finishing } from '#clients/client/text/canceling.ts';
import { type Platform, startPlatform } from '#infra/local/commands/platform.ts';
import { hasGo, withDriftProvider } from './support/drift-provider.ts';
import { impatient, missedSeconds } from './support/impatient.ts';
import { newSharedFolder } from './support/shared-folder.ts';
import { slowState } from './support/slow-state.ts';
import { Client, isFinalRun, type Resource, until } from './support/waiting.ts';

/** A cancel waits for Terraform without a time limit, even longer than the detection of missed heartbeats. */

const patientMs = 240_000;

describe.concurrent('a canceled run whose Terraform ignores the interrupt', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'stepform-cancel-'));
  const outside = newSharedFolder('cancel-');
  let platform: Platform | undefined;
  let client: Client;
  beforeAll(async () => {
    platform = await startPlatform({ dataDir, port: 0, httpsPort: 0, application: impatient() });
    client = new Client(platform.local.url, platform.local.token);
  });
  afterAll(async () => {
    await platform?.close();
    for (const folder of [dataDir, outside]) rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  });

  const start = async (name: string, configuration: Buffer) => {
    const workspace = await client.createWorkspace(platform?.local.organization ?? '', name);
    const version = await client.upload(workspace.id, configuration);
    const run = await client.createRun(workspace.id, { 'auto-apply': true }, version.id);
    return { workspace, run };
  };
  const ended = (run: Resource) => client.waitForRun(run.id, isFinalRun, patientMs);
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
      await client.act(run.id, 'cancel');
      const named = await client.waitForRun(run.id, (now) => finishing(now, Date.now()) !== undefined, patientMs);
      expect(finishing(named, Date.now())).toMatch(/^drift_file\.deaf, \d/);
      expect((await afterMissed(run)).attributes.status).toBe('applying');
      writeFileSync(go, '');
      const { attributes } = await ended(run);
      expect(attributes).toMatchObject({ status: 'canceled', 'finishing-resources': [] });
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
