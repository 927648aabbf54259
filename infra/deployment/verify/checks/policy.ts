import { type Check, expect, ok } from '../check.ts';

const message = 'verify refuses every plan';
const rego = `package terraform.policies.verify\nimport rego.v1\ndeny contains "${message}"\n`;

export const policy: Check = {
  name: 'OPA policy',
  proves: 'The OPA binary evaluates a mandatory policy of a run',
  documented: 'the run ends as errored and names the policy',
  async perform(platform) {
    const { client, organization } = platform;
    const workspace = await platform.newWorkspace('policy', { 'auto-apply': true });
    const created = await client.create(`/organizations/${organization}/policies`, 'policies', {
      name: 'verify',
      kind: 'opa',
      query: 'data.terraform.policies.verify.deny',
      enforce: [{ path: 'verify.rego', mode: 'mandatory' }],
      'enforcement-level': 'mandatory',
    });
    await client.put(`/policies/${created.id}/upload`, rego);
    await client.create(
      `/organizations/${organization}/policy-sets`,
      'policy-sets',
      { name: 'verify', kind: 'opa', overridable: false },
      {
        policies: { data: [{ type: 'policies', id: created.id }] },
        workspaces: { data: [{ type: 'workspaces', id: workspace.id }] },
      },
    );
    const { run } = await platform.start(workspace, { 'main.tf': 'resource "terraform_data" "a" {}\n' });
    const { attributes } = await platform.ended(run, 'errored');
    const evaluation = await client.get(`/policy-evaluations/${run.id.replace('run-', 'poleval-')}`);
    const { data } = await client.some(`/policy-evaluations/${evaluation.id}/policy-set-outcomes`, 10);
    expect(JSON.stringify(data).includes(message), `OPA was not evaluated: ${attributes['end-reason']}`);
    return ok('a mandatory policy failed its run');
  },
};
