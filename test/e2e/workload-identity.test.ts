import { describe, expect, it } from 'vitest';
import { verifyIdentity } from '#infra/deployment/verify/identity.ts';
import { identityIn, printIdentity } from '#infra/deployment/verify/probes.ts';
import { client, newWorkspace, organization, platform, readLog, startRun, untilFinal } from './support/world.ts';

/** A service that trusts only the platform, and a Terraform in a run that authenticates to it. */

const audience = 'e2e.workload.identity';

const shows = (name: string) => `resource "terraform_data" "${name}" {
  provisioner "local-exec" {
    command = ${JSON.stringify(printIdentity)}
  }
}
output "shared_config" {
  value = regex("role_arn = (\\\\S+)", file(var.tfc_aws_dynamic_credentials.default.shared_config_file))[0]
}
variable "tfc_aws_dynamic_credentials" {
  type = object({
    default = object({ shared_config_file = string })
    aliases = map(object({ shared_config_file = string }))
  })
}`;

describe('workload identity', () => {
  it('Terraform in a run has a verifiable token, and credentials from it', async () => {
    const workspace = await newWorkspace({ 'structured-run-output-enabled': false });
    const role = (phase: string) => `arn:aws:iam::123456789012:role/${phase}`;
    const variables = {
      TFC_WORKLOAD_IDENTITY_AUDIENCE: audience,
      TFC_AWS_PROVIDER_AUTH: 'true',
      TFC_AWS_PLAN_ROLE_ARN: role('reader'),
      TFC_AWS_APPLY_ROLE_ARN: role('writer'),
    };
    for (const [key, value] of Object.entries(variables))
      await client.setVariable(workspace.id, { key, value, category: 'env' });
    const run = await untilFinal(await startRun(workspace, { 'main.tf': shows('a') }, { 'auto-apply': true }));
    expect(run.attributes.status).toBe('applied');
    const [planLog, applyLog] = await Promise.all([readLog(run, 'plan'), readLog(run, 'apply')]);
    expect(planLog).toContain(role('reader'));

    const claims = await verifyIdentity(identityIn(applyLog), { issuer: platform.url, audience });
    const inProject = workspace.relationships?.project?.data as { id: string } | undefined;
    const project = await client.get(`/projects/${inProject?.id}`);
    const { attributes: home } = await client.get(`/organizations/${organization}`);
    const path = `organization:${organization}:project:${project.attributes.name}:workspace:${workspace.attributes.name}`;
    expect(claims).toMatchObject({
      sub: `${path}:run_phase:apply`,
      terraform_organization_id: home['external-id'],
      terraform_organization_name: organization,
      terraform_project_id: project.id,
      terraform_project_name: project.attributes.name,
      terraform_workspace_id: workspace.id,
      terraform_workspace_name: workspace.attributes.name,
      terraform_full_workspace: path,
      terraform_run_id: run.id,
      terraform_run_phase: 'apply',
    });
    expect(Number(claims.exp) - Number(claims.iat)).toBe(24 * 3600);
    // The token itself is in no log.
    expect(`${planLog}${applyLog}`).not.toContain('eyJ');
  });
});
