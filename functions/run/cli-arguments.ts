/**
 * Rejects arguments that Terraform takes from the environment (`TF_CLI_ARGS`, `TF_CLI_ARGS_<command>`) if they would
 * change where states and plans are stored, or what a run does. Pure.
 */

const keepsState = 'the platform stores the state of the workspace';

/** Reason why each flag is rejected. Flags of Terraform 1.11 and OpenTofu 1.9: `apply`, `plan`, `init`. */
const refused: Record<string, string> = {
  state: keepsState,
  'state-out': keepsState,
  backup: keepsState,
  backend: keepsState,
  'backend-config': keepsState,
  cloud: keepsState,
  'migrate-state': keepsState,
  'force-copy': keepsState,
  'from-module': 'the configuration of a run is its configuration version',
  out: 'the platform stores the plan of a run',
  destroy: 'start a destroy run instead',
  help: 'Terraform would only print its help',
  h: 'Terraform would only print its help',
  version: 'Terraform would only print its version',
  v: 'Terraform would only print its version',
};

/** Terraform takes one dash or two, and the value after "=" or a space. */
const flag = /(?:^|\s)--?([a-z][a-z-]*)(?=[\s=]|$)/g;

/**
 * Why a variable's value is rejected; undefined for accepted values and for other variables. A flag is also found
 * inside another flag's quoted value, because quotes and backslashes can be anywhere in a word.
 */
export const refusedArgument = (key: string, value: string): string | undefined => {
  if (!/^TF_CLI_ARGS(_|$)/.test(key)) return undefined;
  const names = [...value.replaceAll(/["'\\]/g, '').matchAll(flag)].map(([, name = '']) => name);
  const name = names.find((one) => Object.hasOwn(refused, one));
  return name && `-${name} cannot be set with ${key}: ${refused[name]}. Remove it.`;
};
