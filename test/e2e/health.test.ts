import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { status } from '#test/support/task-server.ts';
import { hasGo, withDriftProvider } from './support/drift-provider.ts';
import { startServer } from './support/run-tasks.ts';
import { newSharedFolder } from './support/shared-folder.ts';
import { until } from './support/waiting.ts';
import { client, download, newWorkspace, platform, type Resource, reasonOf, untilFinal } from './support/world.ts';

/** Health assessments with the real Terraform, from the setting to the end of drift. */

/** Terraform may run as another user. */
const openFolder = (): string => newSharedFolder('health-');

const assessed = { 'assessments-enabled': true, 'auto-apply': true };

const resultOf = ({ id }: Resource): Promise<Resource | undefined> =>
  client.get(`/workspaces/${id}/current-assessment-result`).catch(() => undefined);

/** Starts an assessment, and waits for its result. */
const assess = async (workspace: Resource): Promise<Resource> => {
  const before = await resultOf(workspace);
  // Shortly after its end, a run still holds the lock.
  await until(
    () => client.get(`/workspaces/${workspace.id}`),
    ({ attributes }) => !attributes.locked,
  );
  await client.call('POST', `/workspaces/${workspace.id}/actions/assess`);
  const result = await until(
    () => resultOf(workspace),
    (one) => one !== undefined && one.id !== before?.id,
  );
  return result as Resource;
};

/** E-mails that contain the workspace's name: on one machine each is a file (infra/local/aws/ses/mail.ts). */
const emailsAbout = ({ attributes }: Resource): string[] => {
  const folder = join(platform.dataDir ?? '', 'mail');
  if (!existsSync(folder)) return [];
  const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  return texts.filter((text) => text.includes(attributes.name));
};

/** Notifications of the workspace's health from now on: at a URL, and in e-mails to its owner. */
const notifications = async (workspace: Resource) => {
  const server = await startServer();
  server.answer = status(200);
  const all = ['assessment:drifted', 'assessment:check_failure', 'assessment:failed'];
  const path = `/workspaces/${workspace.id}/notification-configurations`;
  const values = { enabled: true, triggers: all };
  await client.create(path, 'notification-configurations', {
    ...values,
    name: 'url',
    'destination-type': 'generic',
    url: server.url,
  });
  const owner = await client.get('/account/details');
  await client.create(
    path,
    'notification-configurations',
    { ...values, name: 'mail', 'destination-type': 'email' },
    { users: { data: [{ type: 'users', id: owner.id }] } },
  );
  return {
    triggers: async () =>
      server.requests
        .map(({ payload }) => (payload as unknown as { trigger?: string }).trigger)
        .filter((trigger) => trigger !== undefined),
    emails: () => emailsAbout(workspace),
  };
};

const apply = async (workspace: Resource, archive: Buffer): Promise<Resource> => {
  const version = await client.upload(workspace.id, archive);
  const run = await untilFinal(await client.createRun(workspace.id, {}, version.id));
  expect([run.attributes.status, reasonOf(run)]).toEqual(['applied', '']);
  return run;
};

describe.concurrent('a health assessment', () => {
  it.skipIf(!hasGo)('finds manual drift, until a user applies the configuration or accepts the drift', async () => {
    const folder = openFolder();
    const path = (name: string) => join(folder, name);
    const block = (name: string) =>
      `resource "drift_file" "${name}" {\n  path    = "${path(name)}"\n  content = "as configured"\n}\n`;
    const workspace = await newWorkspace(assessed);
    await apply(workspace, await withDriftProvider(block('a') + block('b')));
    const healthy = await assess(workspace);
    expect(healthy.attributes).toMatchObject({
      succeeded: true,
      drifted: false,
      'resources-drifted': 0,
      'resources-undrifted': 2,
      'all-checks-succeeded': null,
    });

    writeFileSync(path('a'), 'changed by hand');
    const drifted = await assess(workspace);
    expect(drifted.attributes).toMatchObject({ drifted: true, 'resources-drifted': 1, 'resources-undrifted': 1 });
    const json = await download(`/assessment-results/${drifted.id}/json-output`);
    expect(json.resource_drift).toMatchObject([
      { address: 'drift_file.a', change: { after: { content: 'changed by hand' } } },
    ]);
    // Stored last; 204 until then.
    const schemas = await until(
      () => download(`/assessment-results/${drifted.id}/json-schema`),
      (answer) => answer !== undefined,
    );
    expect(Object.keys(schemas.provider_schemas)).toEqual(['example.com/test/drift']);
    const headers = { authorization: `Bearer ${platform.token}` };
    const log = await fetch(`${platform.url}/api/v2/assessment-results/${drifted.id}/log-output`, { headers });
    expect(await log.text()).toContain('"type":"resource_drift"');

    const undo = await untilFinal(await client.createRun(workspace.id));
    expect(undo.attributes.status).toBe('applied');
    expect(readFileSync(path('a'), 'utf8')).toBe('as configured');
    expect((await assess(workspace)).attributes).toMatchObject({ drifted: false });

    writeFileSync(path('b'), 'kept');
    const accept = await untilFinal(await client.createRun(workspace.id, { 'refresh-only': true }));
    expect(accept.attributes.status).toBe('applied');
    expect(readFileSync(path('b'), 'utf8')).toBe('kept');
    const runs = await client.list(`/workspaces/${workspace.id}/runs`);
    expect(runs).toHaveLength(3);
    expect(runs.map(({ attributes }) => attributes.message)).not.toContain('Health assessment');
  });

  it('counts checks that pass and fail, and fails itself when Terraform does', async () => {
    const folder = openFolder();
    const file = join(folder, 'answer');
    writeFileSync(file, 'yes');
    const main = `
variable "broken" {
  default = ""
}
resource "terraform_data" "a" {
  input = "a"
  lifecycle {
    precondition {
      condition     = !startswith(var.broken, "condition")
      error_message = "The condition does not hold."
    }
  }
}
check "answer" {
  assert {
    condition     = terraform_data.a.input == "a" && fileexists("${file}") && trimspace(file("${file}")) == "yes"
    error_message = "The answer is not yes."
  }
}
output "port" {
  value = var.broken == "error" ? tonumber(var.broken) : 1
}
`;
    const workspace = await newWorkspace(assessed);
    const notified = await notifications(workspace);
    await apply(workspace, await packFiles({ 'main.tf': main }));
    expect((await assess(workspace)).attributes).toMatchObject({
      drifted: false,
      'all-checks-succeeded': true,
      'checks-passed': 2,
      'checks-failed': 0,
    });

    writeFileSync(file, 'no');
    expect((await assess(workspace)).attributes).toMatchObject({
      drifted: false,
      'all-checks-succeeded': false,
      'checks-passed': 1,
      'checks-failed': 1,
    });

    const variable = await client.setVariable(workspace.id, { key: 'broken', value: 'condition' });
    expect((await assess(workspace)).attributes).toMatchObject({
      succeeded: true,
      drifted: null,
      'all-checks-succeeded': false,
      'checks-failed': 1,
    });

    const change = { data: { id: variable.id, type: 'vars', attributes: { value: 'error' } } };
    await client.call('PATCH', `/workspaces/${workspace.id}/vars/${variable.id}`, change);
    expect((await assess(workspace)).attributes).toMatchObject({
      succeeded: false,
      drifted: null,
      'error-message': expect.stringContaining('Invalid function argument'),
    });
    // One for each result with a problem, by URL and by e-mail; none for the first.
    const expected = ['assessment:check_failure', 'assessment:check_failure', 'assessment:failed'];
    expect(await until(notified.triggers, (triggers) => triggers.length >= 3, 60_000)).toEqual(expected);
    expect(
      await until(
        async () => notified.emails(),
        (emails) => emails.length >= 3,
        60_000,
      ),
    ).toHaveLength(3);
    const shown = await client.get(`/workspaces/${workspace.id}`);
    expect(shown.attributes['last-assessment-result-at']).toMatch(/Z$/);
    expect(await client.list(`/workspaces/${workspace.id}/assessment-results`)).toHaveLength(4);
  });
});
