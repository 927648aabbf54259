import { describe, expect, it } from 'vitest';
import { startApi, uniqueName } from '#test/support/api.ts';

/**
 * Command lines from Terraform 1.1 on, and OpenTofu: requests with headers and bodies recorded from each generation,
 * and the checks that each makes on responses before it shows a plan.
 */

const api = await startApi();

interface Client {
  /** Headers of every request. */
  headers: Record<string, string>;
  /** Whether it renders the redacted plan itself; otherwise it prints the log unchanged. */
  renders: 'never' | 'by the name Terraform Cloud, or as Enterprise' | 'by the name HCP Terraform, or as Enterprise';
  /** Engine of a workspace that it creates. */
  engine: 'tofu' | null;
}

const agent = { terraform: 'go-tfe', tofu: (version: string) => `OpenTofu/${version} (+https://opentofu.org)` };
const terraform = (version: string, renders: Client['renders']): [string, Client] => [
  `Terraform ${version}`,
  {
    headers: { 'user-agent': agent.terraform, 'terraform-version': version, 'x-terraform-integration': 'cloud' },
    renders,
    engine: null,
  },
];
const tofu = (version: string): [string, Client] => [
  `OpenTofu ${version}`,
  {
    headers: { 'user-agent': agent.tofu(version), 'terraform-version': version, 'x-terraform-integration': 'cloud' },
    // OpenTofu forked from Terraform 1.5, with the client of that time.
    renders: 'by the name Terraform Cloud, or as Enterprise',
    engine: 'tofu',
  },
];

const clients: [string, Client][] = [
  ...['1.1.9', '1.2.9', '1.3.10'].map((version) => terraform(version, 'never')),
  ...['1.4.7', '1.5.7', '1.6.6', '1.7.5', '1.8.1'].map((version) =>
    terraform(version, 'by the name Terraform Cloud, or as Enterprise'),
  ),
  ...['1.8.2', '1.9.8', '1.10.5', '1.11.4', '1.14.0'].map((version) =>
    terraform(version, 'by the name HCP Terraform, or as Enterprise'),
  ),
  ...['1.6.0', '1.7.10', '1.8.9', '1.9.1', '1.10.6', '1.12.6'].map(tofu),
];

const jsonApi = { accept: 'application/vnd.api+json', 'content-type': 'application/vnd.api+json' };

/** The decision in go-tfe: by the name of the application, otherwise by the month of an Enterprise release. */
const rendersPlans = ({ renders }: Client, headers: Record<string, unknown>): boolean => {
  const [name, version] = [headers['tfp-appname'], String(headers['x-tfe-version'] ?? '')];
  const cloud = renders.includes('HCP') ? 'HCP Terraform' : 'Terraform Cloud';
  return name === cloud || Number(version.slice(1).split('-')[0]) >= 202302;
};

describe.each(clients)('%s', (_, client) => {
  const call = (method: string, path: string, data?: object, more: Record<string, string> = {}) =>
    api.call(method, path, { headers: { ...client.headers, ...jsonApi, ...more }, body: data && { data } });

  it('initializes a workspace, plans, and shows the plan', async () => {
    const ping = await call('GET', 'ping');
    const [major, minor] = String(ping.headers['tfp-api-version']).split('.').map(Number);
    expect([major, (minor ?? 0) >= 5]).toEqual([2, true]);
    expect((await call('GET', 'organizations/acme/entitlement-set')).body.data.attributes.operations).toBe(true);

    const name = uniqueName('client');
    expect((await call('GET', `organizations/acme/workspaces/${name}`)).status).toBe(404);
    const response = await call('POST', 'organizations/acme/workspaces', { type: 'workspaces', attributes: { name } });
    const { id, attributes } = response.body.data;
    expect([response.status, attributes.engine]).toEqual([201, client.engine]);
    const version = client.headers['terraform-version'];
    const set = await call('PATCH', `workspaces/${id}`, {
      type: 'workspaces',
      attributes: { 'terraform-version': version },
    });
    expect([set.status, set.body.data.attributes['terraform-version']]).toEqual([200, version]);
    expect((await call('GET', `workspaces/${id}/current-state-version`)).status).toBe(404);

    const announced = await call('POST', `workspaces/${id}/configuration-versions`, {
      type: 'configuration-versions',
      attributes: { 'auto-queue-runs': false, speculative: true },
    });
    expect(announced.body.data.attributes['upload-url']).toMatch(/^http/);
    const uploaded = await api.configuration(id, { 'auto-queue-runs': false, speculative: true });
    const run = await call('POST', 'runs', {
      type: 'runs',
      attributes: { 'is-destroy': false, message: '', 'plan-only': true, refresh: true, 'refresh-only': false },
      relationships: {
        'configuration-version': { data: { type: 'configuration-versions', id: uploaded.id } },
        workspace: { data: { type: 'workspaces', id } },
      },
    });
    expect([run.status, run.body.errors]).toEqual([201, undefined]);
    const { body } = await call('GET', `runs/${run.body.data.id}?include=workspace,plan`);
    const shown = body.included.find(({ type }: { type: string }) => type === 'workspaces').attributes;
    const { getRun } = await import('#resources/runs/records.ts');
    const isStructured = (await getRun(run.body.data.id))?.structuredOutput;
    // Only clients that render JSON lines get them, and the redacted plan to render.
    expect(isStructured).toBe(client.renders !== 'never');
    if (isStructured) {
      expect([shown['structured-run-output-enabled'], rendersPlans(client, ping.headers)]).toEqual([true, true]);
    }
    expect(body.data.attributes.permissions).toMatchObject({ 'can-cancel': true });
    const { data: plan } = (await call('GET', `plans/${body.data.relationships.plan.data.id}`)).body;
    expect(plan.attributes['log-read-url']).toMatch(/^http/);
  });

  it('keeps a plain log with the remote backend', async () => {
    const { id } = await api.workspace();
    const { id: configuration } = await api.configuration(id);
    const { 'x-terraform-integration': _integration, ...headers } = client.headers;
    const relationships = {
      workspace: { data: { type: 'workspaces', id } },
      'configuration-version': { data: { type: 'configuration-versions', id: configuration } },
    };
    const run = await api.call('POST', 'runs', { headers, body: { data: { attributes: {}, relationships } } });
    const { getRun } = await import('#resources/runs/records.ts');
    expect((await getRun(run.body.data.id))?.structuredOutput).toBe(false);
  });
});
