import type { Block, Body } from '#platform/formats/hcl.ts';

/**
 * Blocks in Terraform's JSON syntax: an object is a block, a list of objects several blocks, and each label adds a
 * level of objects (Terraform: JSON configuration syntax).
 */

const labels: Record<string, number> = { terraform: 0, cloud: 0, workspaces: 0, backend: 1, variable: 1 };

type Json = Record<string, unknown>;
const objects = (value: unknown): Json[] =>
  (Array.isArray(value) ? value : [value]).filter((object) => typeof object === 'object' && object !== null);

const blocksOf = (type: string, value: unknown, named: string[] = []): Block[] =>
  objects(value).flatMap((object) =>
    named.length < (labels[type] ?? 0)
      ? Object.entries(object).flatMap(([label, inner]) => blocksOf(type, inner, [...named, label]))
      : [{ type, labels: named, line: 0, ...bodyOf(object) }],
  );

const bodyOf = (content: Json): Body => {
  const body: Body = { attributes: {}, lines: {}, blocks: [] };
  for (const [name, value] of Object.entries(content)) {
    if (Object.hasOwn(labels, name)) body.blocks.push(...blocksOf(name, value));
    else body.attributes[name] = JSON.stringify(value);
  }
  return body;
};

/** Empty for a file that is not JSON: Terraform reports its errors. */
export const parseTerraformJson = (text: string): Block[] => {
  try {
    return objects(JSON.parse(text)).flatMap((object) => bodyOf(object).blocks);
  } catch {
    return [];
  }
};
