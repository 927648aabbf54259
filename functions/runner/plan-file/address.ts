/** Addresses of instances of resources and actions as Terraform writes them: `module.a["x"].data.aws_ami.b[0]`. */

export interface Address {
  /** `module.a["x"]`; empty for the root module. */
  module: string;
  mode: 'managed' | 'data' | 'ephemeral' | 'action';
  type: string;
  name: string;
  /** Key of `count` or `for_each`. Unknown: `*`, which stands for all instances if their keys are not known yet. */
  index?: number | string | { unknown: true };
}

/** A string in quotes, with escapes. */
const quoted = '"(?:[^"\\\\]|\\\\.)*"';
const key = `(?:\\[(?:${quoted}|-?\\d+|\\*)\\])?`;
const form = new RegExp(
  `^((?:module\\.[^.[\\]"]+${key}\\.)*)(data\\.|ephemeral\\.|action\\.)?([^.[\\]"]+)\\.([^.[\\]"]+?)(?:\\[(${quoted}|-?\\d+|\\*)\\])?$`,
  's',
);

const escapes: Record<string, string> = { n: '\n', r: '\r', t: '\t', a: '\x07', b: '\b', f: '\f', v: '\v' };

/** Reads a string quoted by HCL, or by Go as in Terraform before 1.1. */
const unquote = (text: string): string =>
  text
    .slice(1, -1)
    .replaceAll(
      /\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|(.))|([$%])\5\{/gs,
      (_, short, long, byte, one, template) => {
        const code = short ?? long ?? byte;
        if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16));
        return template === undefined ? (escapes[one] ?? one) : `${template}{`;
      },
    );

const indexOf = (text: string): Address['index'] => {
  if (text === '*') return { unknown: true };
  return text.startsWith('"') ? unquote(text) : Number(text);
};

/** @returns undefined for other texts */
export const parseAddress = (text: string): Address | undefined => {
  const [, modules, mode, type, name, index] = form.exec(text) ?? [];
  if (modules === undefined || type === undefined || name === undefined) return undefined;
  return {
    module: modules.slice(0, -1),
    mode: mode === undefined ? 'managed' : (mode.slice(0, -1) as Address['mode']),
    type,
    name,
    ...(index === undefined ? {} : { index: indexOf(index) }),
  };
};

/** The provider in the address of its configuration: `module.a.provider["registry.terraform.io/hashicorp/aws"].west`. */
export const providerIn = (configuration: string): string =>
  /(?:^|\.)provider\["([^"]+)"\](?:\.[^.]+)?$/.exec(configuration)?.[1] ??
  // Form used before Terraform 0.13.
  /(?:^|\.)provider\.([^.]+)(?:\.[^.]+)?$/.exec(configuration)?.[1] ??
  configuration;
