import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Block, parseHcl } from '#platform/formats/hcl.ts';
import { parseTerraformJson } from './tf-json.ts';

/** The workspace and the variables that a folder's Terraform files declare. */

export interface CloudBlock {
  host?: string;
  organization?: string;
  workspace?: string;
}

const readOrEmpty = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

const names = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};

const isConfiguration = (name: string): boolean => /\.(tf|tofu)(\.json)?$/.test(name);

export const hasConfiguration = (folder: string): boolean => names(folder).some(isConfiguration);

const bodyOf = (folder: string, name: string): Block[] => {
  const text = readOrEmpty(join(folder, name));
  return name.endsWith('.json') ? parseTerraformJson(text) : parseHcl(text).blocks;
};

const blocksIn = (folder: string, type: string): Block[] =>
  names(folder)
    .filter(isConfiguration)
    .flatMap((name) => bodyOf(folder, name))
    .filter((block) => block.type === type);

/** The `backend` or `cloud` block of a folder, with its file and line, from 1. */
export const findBackend = (folder: string): { type: string; file: string; line: number } | undefined => {
  for (const file of names(folder).filter(isConfiguration))
    for (const { type, blocks } of bodyOf(folder, file))
      for (const { type: inner, labels, line } of type === 'terraform' ? blocks : [])
        if (inner === 'cloud' || inner === 'backend') return { type: labels[0] ?? inner, file, line };
  return undefined;
};

/** A literal string. Terraform allows no templates in this block. */
const literal = (body: Block | undefined, name: string): string | undefined =>
  /^"([^"\\$%]*)"$/.exec(body?.attributes[name] ?? '')?.[1] || undefined;

const child = (block: Block | undefined, type: string): Block | undefined =>
  block?.blocks.find((inner) => inner.type === type);

/**
 * Terraform fills in missing arguments of the block from the environment (Terraform: cloud block, environment
 * variables).
 */
export const readCloudBlock = (folder: string, env: NodeJS.ProcessEnv = process.env): CloudBlock => {
  const terraform = blocksIn(folder, 'terraform');
  const cloud = terraform
    .flatMap(({ blocks }) => blocks)
    .find(({ type, labels }) => type === 'cloud' || (type === 'backend' && labels[0] === 'remote'));
  const workspaces = child(cloud, 'workspaces');
  const prefix = literal(workspaces, 'prefix') ?? '';
  // The workspace that `terraform workspace select` chose.
  const selected = env.TF_WORKSPACE || (cloud ? readOrEmpty(join(folder, '.terraform', 'environment')).trim() : '');
  return {
    host: literal(cloud, 'hostname') ?? (env.TF_CLOUD_HOSTNAME || undefined),
    organization: literal(cloud, 'organization') ?? (env.TF_CLOUD_ORGANIZATION || undefined),
    workspace: literal(workspaces, 'name') ?? (selected ? `${prefix}${selected}` : undefined),
  };
};

/** Types of the variables that the folder declares; undefined for a variable without a type. */
export const declaredVariables = (folder: string): Map<string, string | undefined> =>
  new Map(
    blocksIn(folder, 'variable').map(({ labels, attributes }) => [
      labels[0] ?? '',
      attributes.type?.replace(/^"(.*)"$/, '$1'),
    ]),
  );
