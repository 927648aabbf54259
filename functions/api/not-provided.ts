/**
 * Features of HCP Terraform that this platform does not provide, with their paths below `/api/v2`. A path includes everything
 * below it, unless it ends in `/`. `*` is one id or name. Consulted only for paths without a route; a test compares both.
 */
const features: Record<string, string[]> = {
  'metrics of agents': ['organizations/*/metrics-tokens'],
  'sharing providers of the private registry between organizations': [
    'organizations/*/relationships/provider-producers',
    'admin/organizations/*/relationships/provider-consumers',
  ],
  stacks: ['stacks', 'organizations/*/stacks', 'varsets/*/relationships/stacks'],
  'assessments with a key of your own': ['assessment-results/*/sanitized-plan'],
  'moving workspaces between organizations': ['workspace-transfers'],
  'HYOK (hold your own key)': [
    'hyok-configurations',
    'hyok-customer-key-versions',
    'hyok-encrypted-data-keys',
    'oidc-configurations',
    'organizations/*/hyok-configurations',
    'organizations/*/oidc-configurations',
  ],
  invoices: ['organizations/*/invoices'],
  passwords: ['account/password'],
  'HCP organizations': ['account/hcp-organizations'],
  // They can be listed and read; any released version can be used without being added.
  'changing the list of Terraform versions': ['admin/terraform-versions'],
  'site administration': [
    'admin/cost-estimation-settings',
    'admin/customization-settings',
    'admin/general-settings',
    'admin/runs',
    'admin/smtp-settings',
    'admin/twilio-settings',
    'admin/users',
    'admin/workspaces',
  ],
};

const fits = (pattern: string, segments: string[]): boolean =>
  pattern.split('/').every((part, i) => (part === '*' ? Boolean(segments[i]) : part === (segments[i] ?? '')));

/** The unsupported feature of an API path; undefined if the path belongs to none. */
export const featureNotProvided = (path: string): string | undefined => {
  const [, below] = /^\/api\/v2\/(.+)$/.exec(path) ?? [];
  const segments = below?.split('/');
  return segments && Object.keys(features).find((name) => features[name]?.some((pattern) => fits(pattern, segments)));
};
