import { expect, it } from 'vitest';
import { refusedArgument } from '#run/cli-arguments.ts';

it.each([
  ['TF_CLI_ARGS_apply', '-state-out=/tmp/elsewhere', '-state-out'],
  ['TF_CLI_ARGS_apply', '--state-out /tmp/elsewhere', '-state-out'],
  ['TF_CLI_ARGS_apply', '-parallelism=3 "-state"=/tmp/elsewhere', '-state'],
  ['TF_CLI_ARGS_apply', "-st'at'e=x", '-state'],
  ['TF_CLI_ARGS_apply', '-st\\ate=x', '-state'],
  ['TF_CLI_ARGS_apply', '-no-color\n-backup=-', '-backup'],
  ['TF_CLI_ARGS_apply', '-help', '-help'],
  ['TF_CLI_ARGS', '-state=x', '-state'],
  ['TF_CLI_ARGS_plan', '-out=x', '-out'],
  ['TF_CLI_ARGS_plan', '-destroy', '-destroy'],
  ['TF_CLI_ARGS_init', '-backend-config=path=x', '-backend-config'],
  ['TF_CLI_ARGS_init', '-backend=false', '-backend'],
])('the variable %s="%s" is rejected, and the error names %s', (key, value, flag) => {
  expect(refusedArgument(key, value)).toMatch(new RegExp(`^${flag} cannot be set with ${key}: .+\\.$`));
});

it.each([
  ['TF_CLI_ARGS_apply', '-parallelism=3 -lock-timeout=10s -no-color -json -auto-approve -compact-warnings'],
  ['TF_CLI_ARGS_plan', '-var-file=x.tfvars -var="state=x" -target=module.state -refresh=false -replace=a.out'],
  ['TF_CLI_ARGS_init', '-upgrade -lockfile=readonly -plugin-dir=/plugins -reconfigure'],
  ['TF_CLI_ARGS_apply', ''],
  ['TF_CLI_CONFIG_FILE', '-state=x'],
  ['ARGUMENTS', '-state-out=x'],
])('the variable %s="%s" is accepted', (key, value) => {
  expect(refusedArgument(key, value)).toBeUndefined();
});
