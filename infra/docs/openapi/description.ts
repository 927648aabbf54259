import type { QueryParameters } from '#api/query-parameters.ts';
import type { Route } from '#api/route.ts';
import { version } from '#clients/cli/program.ts';
import { routes } from '#public-api/all-routes.ts';
import { Answers, jsonApi, type Success } from './answers.ts';
import { type Body, Readers } from './bodies.ts';
import { findDeclared } from './declared-routes.ts';
import { resourceSchemas } from './resources.ts';
import { type Schema, withProject } from './types.ts';

/**
 * OpenAPI 3.1 of the public API: paths, parameters and permissions from the table of routes; bodies from the validation
 * schemas; resources from the functions that write them.
 */

const prefix = '/api/v2';

const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
const content = (schema: Schema, mediaType = jsonApi) => ({ [mediaType]: { schema } });

const rule = (given: NonNullable<QueryParameters[keyof QueryParameters]>) => {
  if (given === 'text') return { schema: { type: 'string' } };
  if ('one' in given) return { schema: { type: 'string', enum: [...given.one] } };
  const some = 'paths' in given ? given.paths : given.some;
  return { schema: { type: 'array', items: { type: 'string', enum: [...some] } }, style: 'form', explode: false };
};

const paging: QueryParameters = { 'page[number]': 'text', 'page[size]': 'text' };

/** One spelling of each: some parameters may be sent with `-` or `_`, which generated clients cannot tell apart. */
const spelledOnce = <T>(entries: [string, T][]): [string, T][] => [
  ...new Map(entries.map((entry) => [entry[0].replaceAll('_', '-'), entry])).values(),
];

const parametersOf = ({ method, path, query = {} }: Route) => [
  ...[...path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  })),
  ...spelledOnce(Object.entries({ ...query, ...(method === 'GET' ? paging : {}) })).map(([name, given = 'text']) => ({
    name,
    in: 'query',
    ...(name.includes('[*]') ? { description: '`*` is any number or name.' } : {}),
    ...rule(given),
  })),
];

/** `GET /run-triggers/{runTrigger}` → `get_runTriggers_runTrigger`. */
const operationId = ({ method, path }: Route): string =>
  `${method.toLowerCase()}${path.slice(prefix.length).replaceAll(/[{}+]/g, '').replaceAll('/', '_')}`.replaceAll(
    /[-.](\w)/g,
    (_, letter: string) => letter.toUpperCase(),
  );

const open: Schema = { type: 'object' };

const bodySchema = ({ attributes, relationships, whole }: Body): Schema => {
  if (whole) return whole;
  const data: Schema = {
    type: 'object',
    properties: {
      id: { type: 'string' },
      type: { type: 'string' },
      attributes: attributes ?? open,
      ...(relationships ? { relationships } : {}),
    },
    ...(attributes?.required ? { required: ['attributes'] } : {}),
  };
  return { type: 'object', properties: { data }, ...(attributes?.required ? { required: ['data'] } : {}) };
};

const requestBody = (method: string, bodies: Body[]) => {
  if (method === 'GET' || bodies.length === 0) return {};
  const schemas = bodies.map(bodySchema);
  return { requestBody: { content: content(schemas.length === 1 ? (schemas[0] as Schema) : { anyOf: schemas }) } };
};

/** Shared by all operations. */
const failures: Record<string, string> = {
  Unauthorized: 'The token is missing or unknown',
  Forbidden: 'The caller sees the subject, but lacks the permission',
  NotFound: 'It does not exist, or the caller may not see it',
  Conflict: 'Its present state does not allow the change',
  Unprocessable: 'The body is invalid: `source.pointer` names the attribute',
  Changed: 'It was changed since it was read: `If-Match` differs',
  TooMany: 'Too many requests: retry after the time in `Retry-After`',
  Failure: 'The request is invalid',
};

/** Each by its number: some generators of clients read no ranges such as `4XX`, and `default` would be any status. */
const failuresOf = ({ method, access, finder }: Route): Record<string, object> => {
  const isWrite = method !== 'GET';
  const names: [number, string, boolean][] = [
    [400, 'Failure', true],
    [401, 'Unauthorized', access !== 'anyone'],
    [403, 'Forbidden', finder !== undefined],
    [404, 'NotFound', finder !== undefined],
    [409, 'Conflict', isWrite],
    [412, 'Changed', method === 'PATCH'],
    [422, 'Unprocessable', isWrite && method !== 'DELETE'],
    [429, 'TooMany', true],
  ];
  return Object.fromEntries(
    names.flatMap(([status, name, applies]) => (applies ? [[status, { $ref: `#/components/responses/${name}` }]] : [])),
  );
};

const documentRef = ({ kind, types }: Success): Schema => {
  const [type, ...others] = types;
  if (!others.length) return ref(`${type}.${kind}`);
  const any: Schema = { anyOf: types.map(ref) };
  return documentOf(kind === 'list' ? { type: 'array', items: any } : any);
};

const success = (answer: Success): { description: string; content?: object } => {
  switch (answer.kind) {
    case 'text':
      return { description: 'Text', content: content({ type: 'string' }, answer.mediaType) };
    case 'json':
      return { description: 'JSON', content: content(answer.schema ?? {}, answer.mediaType) };
    case 'empty':
      return { description: answer.status < 300 ? 'Done' : 'The address of the content' };
    case 'unknown':
      throw new Error(`The source does not show the answer ${answer.status}`);
    case 'one':
    case 'list':
      return {
        description: answer.types.join(' or '),
        content: content(documentRef(answer), answer.mediaType),
      };
  }
};

/** The answers of a status, by their media types. */
const successes = (answers: Success[]): object => {
  const all = answers.map(success);
  const contents = all.flatMap(({ content }) => content ?? []);
  return {
    description: [...new Set(all.map(({ description }) => description))].join(' or '),
    ...(contents.length ? { content: Object.assign({}, ...contents) } : {}),
  };
};

const operation = (route: Route, bodies: Body[], answers: Success[]) => ({
  operationId: operationId(route),
  tags: [route.path.slice(prefix.length + 1).split('/')[0] as string],
  'x-permission': route.access,
  ...(route.access === 'anyone' ? { security: [] } : {}),
  parameters: parametersOf(route),
  ...requestBody(route.method, bodies),
  responses: {
    ...Object.fromEntries(
      [...Map.groupBy(answers, ({ status }) => status)].map(([status, all]) => [status, successes(all)]),
    ),
    ...failuresOf(route),
  },
});

const links: Schema = { type: 'object', additionalProperties: { type: ['string', 'null', 'object'] } };

/** A document with one resource, or a list of them. */
const documentOf = (data: Schema): Schema => ({
  type: 'object',
  properties: { data, included: { type: 'array', items: ref('Resource') }, links, meta: open },
  required: ['data'],
});

const documentsOf = (type: string): [string, Schema][] => [
  [`${type}.list`, documentOf({ type: 'array', items: ref(type) })],
  [`${type}.one`, documentOf(ref(type))],
];

const envelopes = (types: string[]): Record<string, Schema & { discriminator?: object }> => ({
  Resource: {
    anyOf: types.map(ref),
    discriminator: { propertyName: 'type' },
  },
  Identifier: {
    type: 'object',
    properties: { id: { type: 'string' }, type: { type: 'string' } },
    required: ['id', 'type'],
  },
  Relationships: {
    type: 'object',
    additionalProperties: {
      type: 'object',
      properties: {
        data: { anyOf: [ref('Identifier'), { type: 'array', items: ref('Identifier') }, { type: 'null' }] },
        links: { type: 'object', properties: { related: { type: 'string' } } },
      },
    },
  },
  Errors: {
    type: 'object',
    properties: {
      errors: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            status: { type: 'string' },
            title: { type: 'string' },
            detail: { type: 'string' },
            source: { type: 'object', properties: { pointer: { type: 'string' } } },
            meta: open,
          },
          required: ['status', 'title'],
        },
      },
    },
    required: ['errors'],
  },
});

const resource = (type: string, attributes: Schema): Schema => ({
  type: 'object',
  properties: {
    id: { type: 'string' },
    type: { type: 'string', enum: [type] },
    attributes,
    relationships: ref('Relationships'),
    links,
  },
  required: ['id', 'type', 'attributes'],
});

const sorted = <T>(entries: [string, T][]): Record<string, T> =>
  Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));

/** Takes some seconds: the compiler reads the source. */
const apiDescription = () =>
  withProject((project) => {
    const declared = findDeclared(project);
    const [readers, answers] = [new Readers(project), new Answers(project)];
    const resources = resourceSchemas(project);
    const types = new Set(Object.keys(resources));
    /** @throws {Error} if the source does not show how it answers */
    const describe = (route: Route) => {
      const found = declared(route.method, route.path.slice(prefix.length));
      const answered = found ? answers.of(found.handler, route.path, types) : [];
      if (!found || !answered.length) throw new Error(`The source does not show the answer of ${operationId(route)}`);
      return operation(route, readers.of(found.handler, found.folder), answered);
    };
    const served = routes.filter(({ path }) => path.startsWith(`${prefix}/`));
    const paths = Map.groupBy(served, ({ path }) => path.replaceAll('+}', '}'));
    return {
      openapi: '3.1.0',
      info: {
        title: 'stepform',
        version: version(),
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
        description:
          'HCP Terraform API v2 as this platform serves it. `x-permission` is the permission that a request needs. `x-refused` lists attributes of HCP Terraform that are refused by name; other unknown attributes are refused, too.',
      },
      servers: [{ url: '/' }],
      security: [{ token: [] }],
      tags: [...new Set(served.map(({ path }) => path.split('/')[3] as string))].sort().map((name) => ({ name })),
      paths: sorted(
        [...paths].map(([path, all]) => [
          path,
          Object.fromEntries(all.map((route) => [route.method.toLowerCase(), describe(route)])),
        ]),
      ),
      components: {
        securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
        responses: Object.fromEntries(
          Object.entries(failures).map(([name, description]) => [
            name,
            { description, content: content(ref('Errors')) },
          ]),
        ),
        schemas: {
          ...envelopes(Object.keys(resources).sort()),
          ...sorted(
            Object.entries(resources).flatMap(([type, schema]) => [
              [type, resource(type, schema)] as [string, Schema],
              ...documentsOf(type),
            ]),
          ),
        },
      },
    };
  });

/** JSON with a line for each path and each schema, for readable changes. */
export const apiDescriptionText = (): string => {
  const { paths, components, ...rest } = apiDescription();
  const lines = (entries: object) =>
    Object.entries(entries)
      .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
      .join(',\n');
  const { schemas, ...others } = components;
  const head = JSON.stringify({ ...rest, components: others }).slice(0, -2);
  return `${head},"schemas":{\n${lines(schemas)}\n}},"paths":{\n${lines(paths)}\n}}\n`;
};
