import { type Body, type File, NestingError, parseHcl } from '#platform/formats/hcl.ts';

/** The parsed configuration of a provider set. */
export interface ProviderConfiguration {
  /** The provider's name in the block. */
  localName: string;
  /** Names of variables in the block. */
  variables: string[];
}

const expressionsIn = ({ attributes, blocks }: Body): string[] => [
  ...Object.values(attributes),
  ...blocks.flatMap(expressionsIn),
];

const fileOf = (text: string): File | { fault: string } => {
  try {
    return parseHcl(text);
  } catch (error) {
    if (error instanceof NestingError) return { fault: `cannot be read: ${error.message}` };
    throw error;
  }
};

/** Parses the configuration, or returns the reason why it cannot be used, for users. */
export const providerConfigurationOf = (text: string): ProviderConfiguration | { fault: string } => {
  const file = fileOf(text);
  if ('fault' in file) return file;
  const { blocks, attributes, faults, repeated } = file;
  const [line] = [...faults, ...repeated];
  if (line !== undefined) return { fault: `has a syntax error in line ${line}` };
  const [block, ...others] = blocks;
  const stray = others[0] ?? (block?.type === 'provider' ? undefined : block);
  if (!block || stray || Object.keys(attributes).length > 0 || block.labels.length !== 1) {
    return { fault: 'must be one provider block and nothing else, e.g. provider "aws" { region = "eu-west-1" }' };
  }
  const [localName = ''] = block.labels;
  if (!/^[A-Za-z][A-Za-z0-9_-]*$/.test(localName)) return { fault: `${localName.slice(0, 50)} is not a provider name` };
  if (block.attributes.alias !== undefined) {
    return { fault: 'must not have an alias: modules get the default configuration of a provider' };
  }
  const expressions = expressionsIn(block);
  const [, other] = expressions.map((expression) => /(?<![\w.])(data|module)\.\w/.exec(expression)).find(Boolean) ?? [];
  if (other)
    return {
      fault: `can only refer to variables and local values of the workspaces' configurations, not to ${other}.…`,
    };
  const names = expressions.flatMap((expression) => [
    ...expression.matchAll(/(?<![\w.])var\.([\p{L}_][\p{L}\p{N}_-]*)/gu),
  ]);
  return { localName, variables: [...new Set(names.map(([, name = '']) => name))] };
};
