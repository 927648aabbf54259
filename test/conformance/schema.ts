/**
 * The part of OpenAPI 3.0's schema language that HCP Terraform's description uses. Compares a value with a schema and
 * reports each mismatch by its place. A place inside a named schema begins with that name, so that the same difference
 * has the same place in every response.
 */

export interface Schema {
  $ref?: string;
  type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  nullable?: boolean;
  enum?: unknown[];
  format?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: boolean | Schema;
  allOf?: Schema[];
  oneOf?: Schema[];
  anyOf?: Schema[];
  writeOnly?: boolean;
}

export type Schemas = Record<string, Schema>;

const prefix = '#/components/schemas/';

/** Merges the parts of `allOf`; the outer schema's own keywords apply besides them. */
const merged = (schema: Schema, schemas: Schemas): { schema: Schema; name?: string } => {
  if (schema.$ref) {
    const name = schema.$ref.slice(prefix.length);
    const named = schemas[name];
    if (!named) throw new Error(`the description has no schema ${name}`);
    return { name, schema: merged(named, schemas).schema };
  }
  if (!schema.allOf) return { schema };
  const parts = schema.allOf.map((part) => merged(part, schemas).schema);
  const all = [...parts, schema];
  return {
    schema: {
      ...Object.assign({}, ...all),
      allOf: undefined,
      properties: Object.assign({}, ...all.map(({ properties }) => properties)),
      required: all.flatMap(({ required = [] }) => required),
    },
  };
};

const kindOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
};

const fitsType = (type: Schema['type'], kind: string): boolean =>
  type === undefined || type === kind || (type === 'number' && kind === 'integer');

const isTime = (text: string): boolean => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text);

const isObject = (value: unknown): value is Record<string, unknown> => kindOf(value) === 'object';

/** Reports every place at which the value does not match, with the reason. */
export const differences = (
  value: unknown,
  described: Schema,
  schemas: Schemas,
  place: string,
  tell: (place: string, problem: string) => void,
): void => {
  const { schema, name } = merged(described, schemas);
  const at = name ?? place;
  const kind = kindOf(value);
  if (kind === 'null') {
    if (!schema.nullable && !described.nullable && schema.type) tell(place, 'is null');
    return;
  }
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices) {
    const fits = choices.some((choice) => {
      let bad = 0;
      differences(value, choice, schemas, at, (_, problem) => {
        if (problem !== 'is not described') bad++;
      });
      return bad === 0;
    });
    if (!fits) tell(at, 'fits none of the choices');
    return;
  }
  if (!fitsType(schema.type, kind)) tell(place, `is ${kind}, not ${schema.type}`);
  else if (schema.enum && !schema.enum.includes(value)) tell(at, `is ${JSON.stringify(value)}, which is not listed`);
  else if (schema.format === 'date-time' && !isTime(String(value))) tell(place, 'is no time');
  else if (isObject(value)) ofObject(value, schema, schemas, at, tell);
  else if (Array.isArray(value) && schema.items) {
    for (const item of value) differences(item, schema.items, schemas, `${at}[]`, tell);
  }
};

const ofObject = (
  value: Record<string, unknown>,
  { properties, required = [], additionalProperties }: Schema,
  schemas: Schemas,
  at: string,
  tell: (place: string, problem: string) => void,
): void => {
  for (const name of required) if (!(name in value)) tell(`${at}.${name}`, 'is missing');
  // An object without described properties may have any.
  if (!properties && typeof additionalProperties !== 'object') return;
  for (const [name, inner] of Object.entries(value)) {
    const property = properties?.[name];
    if (property?.writeOnly) tell(`${at}.${name}`, 'is for writing only');
    else if (property) differences(inner, property, schemas, `${at}.${name}`, tell);
    else if (typeof additionalProperties === 'object')
      differences(inner, additionalProperties, schemas, `${at}.*`, tell);
    else if (!additionalProperties) tell(`${at}.${name}`, 'is not described');
  }
};
