/**
 * Operations of HCP Terraform's API description that no route serves, with the reason. `npm run docs` writes the table
 * from this list; a test compares it with the routes, and `npm run conformance -- coverage` with the description
 * itself.
 */

/** Number of operations in the description (July 2026). */
const described = 380;

interface NotServed {
  feature: string;
  why: string;
  /** `METHOD path`, with `{}` for each parameter. */
  operations: string[];
}

const each = (methods: string, path: string): string[] => methods.split(' ').map((method) => `${method} ${path}`);

const transfer = '/workspace-transfers/{}';
const hyok = '/hyok-configurations/{}';

export const notServed: NotServed[] = [
  {
    feature: 'hold your own key (HYOK)',
    why: 'a key of your own AWS account encrypts secrets and states already',
    operations: [
      ...each('GET POST', '/organizations/{}/hyok-configurations'),
      'POST /organizations/{}/hyok-configurations/test',
      'POST /organizations/{}/oidc-configurations',
      ...each('GET PATCH DELETE', hyok),
      `GET ${hyok}/hyok-customer-key-versions`,
      `POST ${hyok}/actions/revoke`,
      `POST ${hyok}/actions/test`,
      ...each('GET DELETE', '/hyok-customer-key-versions/{}'),
      'POST /hyok-customer-key-versions/{}/actions/revoke',
      'GET /hyok-encrypted-data-keys/{}',
      ...each('GET PATCH DELETE', '/oidc-configurations/{}'),
      'GET /assessment-results/{}/sanitized-plan',
    ],
  },
  {
    feature: 'Terraform policies (`tfpolicy`)',
    why: 'beta, and their engine is not published; policies are written for OPA or Sentinel',
    operations: [
      'GET /runs/{}/tf-policy-evaluations',
      'GET /tf-policy-evaluations/{}',
      'POST /tf-policy-evaluations/{}/actions/override',
      'GET /tf-policy-evaluations/{}/tf-policy-set-outcomes',
      'GET /tf-policy-set-outcomes/{}',
    ],
  },
  {
    feature: 'Azure DevOps organizations of a connection',
    why: 'a token belongs to one organization, which is part of api-url',
    operations: ['GET /oauth-tokens/{}/vcs-organizations'],
  },
  {
    feature: 'workspace transfers',
    why: 'copy a workspace, with its state and variables, to another organization with `stepform import`',
    operations: [
      ...each('GET POST', '/workspace-transfers'),
      `GET ${transfer}`,
      `POST ${transfer}/actions/resume`,
      `POST ${transfer}/actions/cancel`,
    ],
  },
  {
    feature: 'metrics tokens',
    why: 'metrics are in CloudWatch, and on one server at /metrics for Prometheus',
    operations: [...each('GET POST', '/organizations/{}/metrics-tokens'), 'DELETE /organizations/{}/metrics-tokens/{}'],
  },
  {
    feature: 'invoices, changing a subscription',
    why: 'there is one plan, and nothing to pay',
    operations: [
      'PATCH /organizations/{}/subscription',
      'GET /organizations/{}/invoices',
      'GET /organizations/{}/invoices/next',
    ],
  },
  {
    feature: 'stacks',
    why: 'use workspaces that run triggers and shared states connect, with variable sets for what they have in common',
    operations: each('POST DELETE', '/varsets/{}/relationships/stacks'),
  },
  {
    feature: 'passwords, HCP organizations',
    why: 'users sign in at your issuer',
    operations: ['PATCH /account/password', 'GET /account/hcp-organizations/{}'],
  },
  {
    feature: 'clean-ups of module tests',
    why: 'a test run destroys the resources that it created, and lists those that remain',
    operations: ['GET /organizations/{}/tests/registry-modules/{}/{}/{}/{}/test-runs/{}/cleanups/{}'],
  },
];

/** A path of the description with unnamed parameters. */
export const unnamed = (operation: string): string => operation.replaceAll(/\{[^}]*\}/g, '{}');

export const notServedTable = (): string => {
  const missing = notServed.reduce((sum, { operations }) => sum + operations.length, 0);
  return [
    `${described - missing} of the ${described} operations of HCP Terraform's API description are served. Not served:`,
    '',
    '| feature | operations | why |',
    '|---|---|---|',
    ...notServed.map(({ feature, operations, why }) => `| ${feature} | ${operations.length} | ${why} |`),
  ].join('\n');
};
