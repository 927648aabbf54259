import { randomUUID } from 'node:crypto';
import { environment } from '#platform/environment.ts';
import { getOrganization } from '#resources/organizations/records.ts';
import { getProject } from '#resources/projects/records.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { phaseSeconds } from '#run/limits.ts';
import type { Job, JobVariable } from '#run/protocols/runner.ts';
import type { PhaseName, Run } from '#run/run.ts';
import { claimsOf } from './claims.ts';
import { type RequestedCredentials, readRequestedCredentials } from './requested-credentials.ts';
import { MisconfiguredError } from './settings.ts';
import { signToken } from './sign.ts';

/**
 * Signs the tokens of a phase when its runner claims it: one KMS request for each token that the variables request, and
 * none if they request no token. The runner reports invalid variables in the run's log.
 * @returns undefined if the variables request no credentials
 */
export const identify = async (
  run: Run,
  phase: PhaseName,
  workspace: Workspace,
  variables: JobVariable[],
): Promise<Job['identity']> => {
  let requested: RequestedCredentials;
  try {
    requested = readRequestedCredentials(variables, phase);
  } catch (error) {
    if (error instanceof MisconfiguredError) return { credentials: [], backed: [], problem: error.message };
    throw error;
  }
  // Credentials from Vault need a token for Vault.
  if (requested.credentials.length === 0) return undefined;
  const [organization, project] = await Promise.all([
    getOrganization(run.organization),
    getProject(workspace.projectId),
  ]);
  if (!organization || !project) throw new Error(`run ${run.id}: its organization or project was deleted`);
  const workload = {
    organization: { id: organization.externalId, name: organization.shownName ?? organization.name },
    project,
    workspace,
    runId: run.id,
    phase,
  };
  const now = Math.floor(Date.now() / 1000);
  const issue = { issuer: environment.publicUrl, now, lifetimeSeconds: phaseSeconds(run, phase) };
  const sign = (audience: string) => signToken(claimsOf(workload, { ...issue, audience, id: randomUUID() }));
  const credentials = await Promise.all(
    requested.credentials.map(async (credential) => ({ ...credential, token: await sign(credential.audience) })),
  );
  return { credentials, backed: requested.backed };
};
