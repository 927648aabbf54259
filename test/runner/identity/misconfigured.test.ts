import { describe, expect, it } from 'vitest';
import { ask, aws, gcp, role, vault } from './variables.ts';

describe('requesting credentials', () => {
  it.each<[Record<string, string>, string]>([
    [
      { TFC_AWS_PROVIDER_AUTH: 'true' },
      'TFC_AWS_PROVIDER_AUTH is "true", but a plan has no role: set TFC_AWS_RUN_ROLE_ARN, or TFC_AWS_PLAN_ROLE_ARN for this phase alone.',
    ],
    [
      { TFC_AWS_PROVIDER_AUTH_A: 'true', TFC_AWS_PLAN_ROLE_ARN_A: role('plan') },
      'TFC_AWS_PROVIDER_AUTH_A is "true", but an apply has no role: set TFC_AWS_RUN_ROLE_ARN_A, or TFC_AWS_APPLY_ROLE_ARN_A for this phase alone.',
    ],
    [{ ...aws, TFC_AWS_RUN_ROLE_ARN: 'admin' }, 'The variable TFC_AWS_RUN_ROLE_ARN is "admin": it must be the ARN'],
    [{ ...aws, TFC_AWS_RUN_ROLE_ARN: `${role('x')}\nsource_profile = y` }, 'TFC_AWS_RUN_ROLE_ARN is'],
    [
      { TFC_AWS_PROVIDER_AUTH: 'true', TFC_DEFAULT_AWS_RUN_ROLE_ARN: 'x' },
      'The variable TFC_DEFAULT_AWS_RUN_ROLE_ARN is "x"',
    ],
    [gcp, 'TFC_GCP_PROJECT_NUMBER is not set: set it to the number of the project, or TFC_GCP_WORKLOAD_PROVIDER_NAME'],
    [{ ...gcp, TFC_GCP_WORKLOAD_PROVIDER_NAME: 'x' }, 'TFC_GCP_WORKLOAD_PROVIDER_NAME is "x": it must have the form'],
    [{ ...gcp, TFC_GCP_RUN_SERVICE_ACCOUNT_EMAIL: 'a/b@c' }, 'TFC_GCP_RUN_SERVICE_ACCOUNT_EMAIL is "a/b@c"'],
    [{ TFC_AZURE_PROVIDER_AUTH: 'true' }, 'set TFC_AZURE_RUN_CLIENT_ID'],
    [{ TFC_VAULT_PROVIDER_AUTH: 'true' }, 'TFC_VAULT_ADDR is not set: set it to the address of Vault'],
    [
      { ...vault, TFC_VAULT_ADDR: 'vault.test:8200' },
      'TFC_VAULT_ADDR is "vault.test:///…": it must be an https address',
    ],
    [{ ...vault, TFC_VAULT_ADDR: 'file:///etc/passwd' }, 'TFC_VAULT_ADDR is "file:///…"'],
    [{ ...vault, TFC_VAULT_ENCODED_CACERT: 'bm90IGEgY2VydA==' }, 'TFC_VAULT_ENCODED_CACERT'],
    [{ ...vault, TFC_VAULT_CLIENT_TIMEOUT: 'soon' }, 'TFC_VAULT_CLIENT_TIMEOUT is "soon"'],
    [{ TFC_KUBERNETES_PROVIDER_AUTH: 'true' }, 'TFC_KUBERNETES_WORKLOAD_IDENTITY_AUDIENCE is not set'],
    [{ TFC_HCP_PROVIDER_AUTH: 'true' }, 'issues credentials only for AWS, AZURE, GCP, KUBERNETES, VAULT'],
    [
      { TFC_VAULT_BACKED_AWS_AUTH: 'true' },
      'TFC_VAULT_BACKED_AWS_AUTH is "true", but TFC_VAULT_BACKED_AWS_AUTH_TYPE is not set: set it to one of iam_user',
    ],
    [
      { TFC_VAULT_BACKED_AWS_AUTH: 'true', TFC_VAULT_BACKED_AWS_AUTH_TYPE: 'root' },
      'TFC_VAULT_BACKED_AWS_AUTH_TYPE is "root": it must be one of iam_user, assumed_role, federation_token',
    ],
    [
      { TFC_VAULT_BACKED_AZURE_AUTH: 'true', TFC_VAULT_BACKED_AZURE_RUN_VAULT_ROLE: 'r' },
      'TFC_VAULT_BACKED_AZURE_AUTH is "true", but TFC_VAULT_PROVIDER_AUTH is not. Set it',
    ],
    [
      {
        ...vault,
        TFC_VAULT_BACKED_AZURE_AUTH: 'true',
        TFC_VAULT_BACKED_AZURE_RUN_VAULT_ROLE: 'r',
        TFC_VAULT_BACKED_AZURE_VAULT_CONFIG: 'B',
      },
      'but TFC_VAULT_PROVIDER_AUTH_B is not. Set it',
    ],
    [
      {
        ...vault,
        TFC_VAULT_BACKED_AZURE_AUTH: 'true',
        TFC_VAULT_BACKED_AZURE_RUN_VAULT_ROLE: 'r',
        TFC_VAULT_BACKED_AZURE_SLEEP_SECONDS: '1501',
      },
      'TFC_VAULT_BACKED_AZURE_SLEEP_SECONDS is "1501": it must be a number of seconds up to 1500',
    ],
    [
      { TFC_HVS_BACKED_AWS_AUTH: 'true' },
      'issues credentials only for VAULT_BACKED_AWS, VAULT_BACKED_AZURE, VAULT_BACKED_GCP',
    ],
    [{ TFC_AWS_PROVIDER_AUTH_TYPE: 'true' }, 'Tags consist of letters, digits and underscores, and cannot be TYPE'],
    [{ 'TFC_WORKLOAD_IDENTITY_AUDIENCE_a-b': 'x' }, 'TFC_WORKLOAD_IDENTITY_AUDIENCE_a-b ends in an invalid tag'],
    [{ TFC_WORKLOAD_IDENTITY_AUDIENCE: 'x'.repeat(1001) }, 'has more than 1000 characters'],
  ])('reports the variable and the remedy for %j', (variables, message) => {
    expect(() => ask(variables)).toThrow(message);
  });

  it('reports a password in a URL without the password', () => {
    expect(() => ask({ ...vault, TFC_VAULT_ADDR: 'https://me:hunter2@vault.test' })).toThrow(
      /"https:\/\/vault\.test\/…"/,
    );
  });

  it('issues at most fifty tokens', () => {
    const audiences = (n: number) =>
      Object.fromEntries(Array.from({ length: n }, (_, i) => [`TFC_WORKLOAD_IDENTITY_AUDIENCE_${i}`, 'x']));
    expect(ask(audiences(50))).toHaveLength(50);
    expect(() => ask(audiences(51))).toThrow("The workspace's variables request 51 credentials");
  });
});
