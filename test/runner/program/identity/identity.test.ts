import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Signed } from '#run/protocols/credential.ts';
import { archive, Bench, jobFor, textOf } from '../support.ts';
import { VaultServer } from './vault.ts';

/** Where the tokens of a phase go: Terraform's environment, files, Vault. No copies remain afterwards. */

const bench = Bench.use();
let vault: VaultServer;
beforeEach(async () => {
  vault = await VaultServer.start();
});
afterEach(() => vault.stop());

/** Has the form of a token, without resembling any other text. */
const newToken = () => `eyJ.${randomBytes(20).toString('hex')}.${randomBytes(20).toString('hex')}`;

const roleArn = 'arn:aws:iam::123456789012:role/run';
const aws = (tag?: string): Signed => ({
  provider: 'aws',
  ...(tag ? { tag } : {}),
  audience: 'aws.workload.identity',
  roleArn,
  token: newToken(),
});

const awsVariable = `variable "tfc_aws_dynamic_credentials" {
  type = object({
    default = object({ shared_config_file = string })
    aliases = map(object({ shared_config_file = string }))
  })
}`;

/** The apply prints names of variables, and sizes instead of secrets. */
const printing = (command: string) => `resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = ${JSON.stringify(command)}
  }
}`;

it('a single configuration uses the environment, and files that are removed afterwards', async () => {
  const command =
    'echo "role $AWS_ROLE_ARN as $AWS_ROLE_SESSION_NAME"; stat -c "%a %n" "$AWS_WEB_IDENTITY_TOKEN_FILE" "$(dirname $AWS_WEB_IDENTITY_TOKEN_FILE)"; ' +
    'echo "token: $(cat $AWS_WEB_IDENTITY_TOKEN_FILE)"; [ "$(cat $TFC_WORKLOAD_IDENTITY_TOKEN_PATH)" = "$TFC_WORKLOAD_IDENTITY_TOKEN" ] && echo "plain token both ways"; ' +
    'find . -name "*token*" | wc -l';
  const configuration = await archive({ 'main.tf': printing(command.replaceAll('$', '$')) });
  const identity = {
    credentials: [aws(), { provider: 'token', audience: 'x', token: newToken() } as Signed],
    backed: [],
  };
  const { report, log } = await bench.planAndApply(configuration, { identity });
  expect(report).toMatchObject({ outcome: 'finished' });
  expect(log).toContain(`role ${roleArn} as run-1234567890abcdef-apply`);
  expect(log).toMatch(/600 \S+\/identity\/tfc-aws-token/);
  expect(log).toMatch(/700 \S+\/identity\n/);
  expect(log).toContain('token: (sensitive value)');
  expect(log).toContain('plain token both ways');
  // Not in the configuration's folder.
  expect(log).toMatch(/\(local-exec\): 0\n/);
  for (const { token } of identity.credentials) expect(log).not.toContain(token);
  expect(bench.leftovers()).toEqual([]);
});

it('several configurations use the provider’s variable, with paths that a plan may store', async () => {
  const configuration = await archive({
    'main.tf': `${awsVariable}
output "files" {
  value = [for one in concat([var.tfc_aws_dynamic_credentials.default], values(var.tfc_aws_dynamic_credentials.aliases)) :
    regex("role_arn = (\\\\S+)", file(one.shared_config_file))[0]]
}
${printing('env | grep -c "^AWS_" ; exit 0')}`,
  });
  const identity = { credentials: [aws(), aws('ALIAS1')], backed: [] };
  const planned = await bench.run(jobFor(bench.plane, configuration, { identity }));
  expect(planned.log).toContain(roleArn);
  // Another runner, whose folder has another name.
  const { report, log } = await bench.run(bench.applyJob(configuration, { identity }));
  expect(report).toMatchObject({ outcome: 'finished' });
  // The environment would override the provider block's settings.
  expect(log).toMatch(/\(local-exec\): 0\n/);
});

it('a failed request for credentials ends the run before Terraform starts', async () => {
  const configuration = await archive({ 'main.tf': '' });
  const problem = 'TFC_AWS_PROVIDER_AUTH is "true", but a plan has no role: set TFC_AWS_RUN_ROLE_ARN.';
  const { report, log } = await bench.run(
    jobFor(bench.plane, configuration, { identity: { credentials: [], backed: [], problem } }),
  );
  expect(report).toMatchObject({ outcome: 'errored', message: problem });
  expect(report?.steps?.took).not.toHaveProperty('init');
  expect(log).toContain(`Error: ${problem}`);
});

const ofVault = (more: object = {}): Signed => ({
  provider: 'vault',
  audience: 'vault.workload.identity',
  address: vault.address,
  authPath: 'jwt',
  role: 'tfc',
  timeoutSeconds: 5,
  token: newToken(),
  ...more,
});

it('a Vault token is revoked when its plan or apply has ended', async () => {
  const command = 'echo "$VAULT_ADDR $VAULT_NAMESPACE $TERRAFORM_VAULT_SKIP_CHILD_TOKEN token: $VAULT_TOKEN"';
  const configuration = await archive({ 'main.tf': printing(command) });
  const credential = ofVault({ namespace: 'team' });
  const identity = { credentials: [credential], backed: [] };
  const ended = await bench.planAndApply(configuration, { identity });
  expect(ended.report).toMatchObject({ outcome: 'finished' });
  const { token } = credential;
  const ofPhase = [
    {
      method: 'POST',
      path: '/v1/auth/jwt/login',
      namespace: 'team',
      token: undefined,
      body: { role: 'tfc', jwt: token },
    },
    { method: 'POST', path: '/v1/auth/token/revoke-self', namespace: 'team', token: vault.token, body: {} },
  ];
  expect(vault.calls).toEqual([...ofPhase, ...ofPhase]);
  expect(ended.log).toContain(`${vault.address} team true token: (sensitive value)`);
  expect(`${textOf(ended.plan)} ${ended.log} ${ended.said}`).not.toContain(vault.token);
});

it('an error of Vault is reported, and other credentials are revoked', async () => {
  vault.refusal = { status: 400, errors: ['role "tfc" could not be found'] };
  const configuration = await archive({ 'main.tf': '' });
  const identity = { credentials: [ofVault(), aws()], backed: [] };
  const { report } = await bench.run(jobFor(bench.plane, configuration, { identity }));
  expect(report).toMatchObject({
    outcome: 'errored',
    message: `Vault at ${vault.address} rejected the login of this run with role "tfc" at auth/jwt: HTTP 400 role "tfc" could not be found. Correct the TFC_VAULT_… variables of the workspace, or the role in Vault.`,
  });
  expect(bench.leftovers()).toEqual([]);
});
