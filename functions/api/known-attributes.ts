import type { ErrorObject } from './errors.ts';
import type { ApiRequest } from './request.ts';

/**
 * Fields of a body that its schema does not accept. There are three kinds:
 * - Read-only fields of documents are ignored, as in HCP Terraform: clients send back whole documents.
 * - Settings of HCP Terraform that this platform does not support are rejected by name, unless their value disables
 * them.
 * - Unknown fields are rejected by name. HCP Terraform ignores them; but a misspelled setting would then have no
 * effect, and a newer client would assume that its setting was applied. `null` is accepted: clients send it for
 * fields without a value.
 */

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Fields of a body that its schema does not accept. */
export interface OtherFields {
  /** Read-only attributes and relationships. */
  shown?: string;
  related?: string;
  /**
   * Unsupported attributes and relationships: the reason, and values that are accepted. Empty values are accepted too;
   * `false` is not if the feature is always on.
   */
  lacking?: Record<string, string | readonly [why: string, ...same: unknown[]]>;
}

export const noStacks = 'stacks are not supported';
export const noKeys = 'this platform does not support HYOK';

/** `/api/v2/organizations/acme/workspaces/w` → `workspaces`. Names and ids stand between collections. */
const collectionAt = (path: string): string => {
  const segments = path.replace(/^\/api\/v2\//, '').split('/');
  const collections = segments.filter((segment) => segment !== 'relationships').filter((_, i) => i % 2 === 0);
  return collections.at(-1) ?? '';
};

const isOff = (value: unknown): boolean =>
  value === null || value === false || value === '' || (Array.isArray(value) && value.length === 0);

type Part = 'attributes' | 'relationships';

const escaped = (name: string): string => name.slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1');

const problemOf = (
  name: string,
  value: unknown,
  part: Part,
  { shown = '', related = '', lacking = {} }: OtherFields,
  collection: string,
  readFields: string[],
) => {
  if (value === null || words(part === 'attributes' ? shown : related).includes(name)) return undefined;
  const lacks = Object.hasOwn(lacking, name) ? lacking[name] : undefined;
  if (lacks !== undefined) {
    const [why, ...same] = typeof lacks === 'string' ? [lacks] : lacks;
    const isRefused = value === false && same.includes(true);
    return !isRefused && (isOff(value) || same.includes(value)) ? undefined : `cannot be set: ${why}`;
  }
  const choice = readFields.length > 0 ? `; supported: ${readFields.join(', ')}` : '';
  return `is not an attribute or relationship of ${collection}${choice}`;
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** Errors for the fields of `data` that are neither accepted nor ignored. */
export const notTaken = (
  request: ApiRequest,
  data: unknown,
  readFields: Record<Part, string[]>,
  otherFields: OtherFields,
): Omit<ErrorObject, 'status'>[] => {
  if (!isObject(data)) return [];
  const collection = collectionAt(request.path);
  return (['attributes', 'relationships'] as const).flatMap((part) => {
    const members = data[part];
    if (!isObject(members)) return [];
    return Object.entries(members).flatMap(([name, value]) => {
      if (readFields[part].includes(name)) return [];
      const content = part === 'relationships' && isObject(value) && 'data' in value ? value.data : value;
      const linked = part === 'relationships' && isObject(value) && !('data' in value);
      const problem = linked ? undefined : problemOf(name, content, part, otherFields, collection, readFields[part]);
      if (!problem) return [];
      return [
        {
          title: 'invalid attribute',
          detail: `${name.slice(0, 100)}: ${problem}`,
          source: { pointer: `/data/${part}/${escaped(name)}` },
        },
      ];
    });
  });
};
