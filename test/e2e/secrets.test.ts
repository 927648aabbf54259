import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packFiles } from '../../functions/cli/archive.ts';
import { Client, isFinalRun, until } from '../../functions/cli/client.ts';
import { PlatformProcess } from './support/platform.ts';
import { descendants } from './support/processes.ts';
import { newName } from './support/world.ts';

/** Plants secrets, runs, and looks for them in everything the platform keeps and says. */

let platform: PlatformProcess;
beforeAll(async () => {
  platform = await PlatformProcess.start();
});
afterAll(() => platform.remove());

const files = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? files(path) : [path];
  });

it('sensitive values are nowhere but in Terraform’s own plan and state, tokens of runs nowhere at all', async () => {
  const { url, token, organization, pid } = platform.local;
  const client = new Client(url, token);
  const canary = `canary-${randomBytes(16).toString('hex')}`;
  const fromEnvironment = `canary-${randomBytes(16).toString('hex')}`;
  const workspace = await client.createWorkspace(organization, newName());
  const variable = await client.setVariable(workspace.id, { key: 'secret', value: canary, sensitive: true });
  await client.setVariable(workspace.id, { key: 'SECRET', value: fromEnvironment, category: 'env', sensitive: true });
  expect(variable.attributes.value).toBeNull();
  const archive = await packFiles({
    // It is not declared sensitive, and printed: the platform's word counts.
    'main.tf': `variable "secret" {}
resource "terraform_data" "a" {
  input = sha256(var.secret)
  provisioner "local-exec" {
    command = "echo ${'$'}SECRET ${'$'}{var.secret}; sleep 1"
  }
}`,
  });
  const version = await client.upload(workspace.id, archive);
  const run = await client.createRun(workspace.id, { 'auto-apply': true }, version.id);
  const commands = await until(
    async () => descendants(pid).map(({ command }) => command),
    (all) => all.some((command) => command.includes('terraform apply')),
    60_000,
  );
  expect(commands.join('\n')).toContain('main.mjs');
  const ended = await client.waitForRun(run.id, isFinalRun);
  expect(ended.attributes.status).toBe('applied');
  // A runner has more to store when the run is over, and takes its directory along when it goes.
  await until(
    async () => descendants(pid).filter(({ command }) => command.includes('main.mjs')),
    (runners) => runners.length === 0,
    60_000,
  );

  const answers = await Promise.all([
    client.call('GET', `/workspaces/${workspace.id}/vars`),
    client.call('GET', `/runs/${run.id}`),
    client.call('GET', `/runs/${run.id}/run-events`),
  ]);
  for (const secret of [canary, fromEnvironment]) {
    expect(JSON.stringify(answers)).not.toContain(secret);
    // The shell that the configuration itself starts is told the secret by the configuration.
    expect(commands.filter((command) => command.includes(secret) && !command.startsWith('/bin/sh -c echo'))).toEqual(
      [],
    );
    const found = files(platform.dataDir).filter((path) => readFileSync(path).includes(secret));
    if (secret === canary) expect(found.length, 'the search itself finds what is there').toBeGreaterThan(0);
    // The plan's JSON and files hold what Terraform was given; on AWS they are encrypted objects.
    expect(found.filter((path) => !/s3\/.*\/(runs|states)\//.test(path))).toEqual([]);
    expect(found.filter((path) => /\/log/.test(path))).toEqual([]);
  }
  const tokens = /run-[A-Za-z0-9]{16}\.(plan|apply)\.[A-Za-z0-9_-]{40,}/;
  expect(files(platform.dataDir).filter((path) => tokens.test(readFileSync(path, 'latin1')))).toEqual([]);
});
