import type { PhaseName } from '#run/run.ts';

/** HCP Terraform: workload identity, token specification. */

export interface Workload {
  organization: { id: string; name: string };
  project: { id: string; name: string };
  workspace: { id: string; name: string };
  runId: string;
  phase: PhaseName;
}

/** Names of all claims, for the discovery document. */
export const claimNames = [
  'jti',
  'iss',
  'aud',
  'iat',
  'nbf',
  'exp',
  'sub',
  'terraform_organization_id',
  'terraform_organization_name',
  'terraform_project_id',
  'terraform_project_name',
  'terraform_workspace_id',
  'terraform_workspace_name',
  'terraform_full_workspace',
  'terraform_run_id',
  'terraform_run_phase',
] as const;

export type Claims = Record<(typeof claimNames)[number], string | number>;

/** A verifier's clock may be behind ours. */
const skewSeconds = 5;

export interface Issue {
  /** URL without a slash at the end. */
  issuer: string;
  audience: string;
  /** Unique. */
  id: string;
  /** Seconds since 1970. */
  now: number;
  lifetimeSeconds: number;
}

/** Names contain no colons (api/names.ts), so a subject is unambiguous. */
export const claimsOf = (
  { organization, project, workspace, runId, phase }: Workload,
  { issuer, audience, id, now, lifetimeSeconds }: Issue,
): Claims => {
  const path = `organization:${organization.name}:project:${project.name}:workspace:${workspace.name}`;
  return {
    jti: id,
    iss: issuer,
    aud: audience,
    iat: now,
    nbf: now - skewSeconds,
    exp: now + lifetimeSeconds,
    sub: `${path}:run_phase:${phase}`,
    terraform_organization_id: organization.id,
    terraform_organization_name: organization.name,
    terraform_project_id: project.id,
    terraform_project_name: project.name,
    terraform_workspace_id: workspace.id,
    terraform_workspace_name: workspace.name,
    terraform_full_workspace: path,
    terraform_run_id: runId,
    terraform_run_phase: phase,
  };
};
