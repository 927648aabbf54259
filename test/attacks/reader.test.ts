import { afterAll, beforeAll, expect, it } from 'vitest';
import { hasGo, withScriptAsProvider } from '#test/e2e/support/drift-provider.ts';
import { newSharedFolder } from '#test/e2e/support/shared-folder.ts';
import { client, newWorkspace, planJson, untilFinal } from '#test/e2e/support/world.ts';
import { notSeparated, separatesUsers } from './plan-code.ts';
import { Reports, reachingProvider } from './reaching-provider.ts';

const reports = new Reports();
beforeAll(() => reports.listen());
afterAll(() => reports.close());

it.runIf(separatesUsers && hasGo)(
  `a provider cannot reach the Terraform that reads the plan, schemas and state, plans or applies${notSeparated}`,
  async () => {
    const folder = newSharedFolder('reader-');
    const main = `resource "drift_file" "a" {\n  path    = "${folder}/a"\n  content = "judged"\n}\n`;
    const archive = await withScriptAsProvider(main, reachingProvider(reports.port));
    const workspace = await newWorkspace({ 'auto-apply': true });
    const version = await client.upload(workspace.id, archive);
    const run = await untilFinal(await client.createRun(workspace.id, {}, version.id));
    // The runner reads schemas after the run.
    for (const command of ['show -json', 'schema -json', 'plan', 'apply'])
      await expect.poll(() => reports.from(command).length, { message: command, timeout: 60_000 }).toBeGreaterThan(0);
    expect(reports.deeds).toEqual([]);
    expect(run.attributes.status).toBe('applied');
    const json = await planJson(run);
    expect(json.forged).toBeUndefined();
    expect(json.resource_changes).toHaveLength(1);
  },
);
