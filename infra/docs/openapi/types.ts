import { join } from 'node:path';
import { API, type Checker, type Project, SymbolFlags, type Type, TypeFlags } from 'typescript/unstable/sync';
import { root } from '#platform/program.ts';

/** Schemas of OpenAPI 3.1 (JSON Schema) from the types of the source. */

export interface Schema {
  type?: string | string[];
  enum?: (string | number | boolean | null)[];
  const?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  maxItems?: number;
  anyOf?: Schema[];
  $ref?: string;
  description?: string;
  'x-refused'?: string[];
}

/** The project of functions, checked by the compiler. Takes some seconds. */
export const withProject = <T>(use: (project: Project) => T): T => {
  const api = new API({ cwd: root });
  try {
    const snapshot = api.updateSnapshot({ openProjects: [join(root, 'functions/tsconfig.json')] });
    const [project] = snapshot.getProjects();
    if (!project) throw new Error('functions/tsconfig.json has no project');
    return use(project);
  } finally {
    api.close();
  }
};

const simple: [TypeFlags, Schema][] = [
  [TypeFlags.Null, { type: 'null' }],
  [TypeFlags.StringLike, { type: 'string' }],
  [TypeFlags.NumberLike, { type: 'number' }],
  [TypeFlags.BooleanLike, { type: 'boolean' }],
];

/** One schema for all members; those of strings, numbers and null become one list of types. */
const unionOf = (parts: Schema[]): Schema => {
  const constants = parts.flatMap((part) => part.enum ?? []);
  const others = parts.filter((part) => !part.enum);
  const types = [
    ...new Set(others.filter((part) => Object.keys(part).length === 1).flatMap((part) => part.type ?? [])),
  ];
  const complex = others.filter((part) => Object.keys(part).length !== 1 || !part.type);
  if (complex.some((part) => Object.keys(part).length === 0)) return {};
  const named = constants.length ? [...new Set(constants.map((value) => typeof value))] : [];
  const plain: Schema[] =
    constants.length && complex.length === 0 && types.every((type) => type === 'null')
      ? [{ type: one([...named, ...types]), enum: [...constants, ...(types.length ? [null] : [])] }]
      : [
          ...(constants.length ? [{ type: one(named), enum: constants }] : []),
          ...(types.length ? [{ type: one(types) }] : []),
        ];
  const all = [...plain, ...complex];
  return all.length === 1 ? (all[0] as Schema) : { anyOf: all };
};

const one = (types: string[]): string | string[] => (types.length === 1 ? (types[0] as string) : types);

/** @param inside types around it: a type that contains itself has no further schema */
export const schemaOf = (checker: Checker, type: Type, inside: readonly number[] = []): Schema => {
  if (type.isStringLiteralType()) return { type: 'string', enum: [type.value] };
  if (type.isNumberLiteralType()) return { type: 'number', enum: [type.value] };
  if (type.isUnionType() && !(type.flags & TypeFlags.Boolean)) {
    const members = type.getTypes().filter(({ flags }) => !(flags & (TypeFlags.Undefined | TypeFlags.Void)));
    return unionOf(members.map((member) => schemaOf(checker, member, inside)));
  }
  for (const [flag, schema] of simple) if (type.flags & flag) return schema;
  if (!(type.flags & (TypeFlags.Object | TypeFlags.Intersection)) || inside.includes(type.id)) return {};
  const within = [...inside, type.id];
  if (checker.isArrayLikeType(type) && type.isTypeReference()) {
    const [item] = checker.getTypeArguments(type);
    return { type: 'array', items: item ? schemaOf(checker, item, within) : {} };
  }
  return objectOf(checker, type, within);
};

const isUndefined = (type: Type): boolean =>
  Boolean(type.flags & TypeFlags.Undefined) || (type.isUnionType() && type.getTypes().some(isUndefined));

const objectOf = (checker: Checker, type: Type, within: readonly number[]): Schema => {
  const [index] = checker.getIndexInfosOfType(type);
  const properties: Record<string, Schema> = {};
  const required: string[] = [];
  for (const property of checker.getPropertiesOfType(type)) {
    const value = checker.getTypeOfSymbol(property);
    if (!value || value.flags & TypeFlags.Never) continue;
    properties[property.name] = schemaOf(checker, value, within);
    if (!(property.flags & SymbolFlags.Optional) && !isUndefined(value)) required.push(property.name);
  }
  return {
    type: 'object',
    ...(Object.keys(properties).length ? { properties } : {}),
    ...(required.length ? { required } : {}),
    ...(index ? { additionalProperties: schemaOf(checker, index.valueType, within) } : {}),
  };
};
