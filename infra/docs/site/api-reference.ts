import type { Schema } from '#infra/docs/openapi/types.ts';

/** The page of all paths, from the API's description. */

interface Content {
  content: Record<string, { schema?: Schema }>;
}

interface Operation {
  tags: string[];
  parameters: { name: string; in: string }[];
  requestBody?: Content;
  responses: Record<string, Partial<Content>>;
  'x-permission': string;
}

interface Description {
  info: { description: string };
  paths: Record<string, Record<string, Operation>>;
}

const code = (text: string): string => `\`${text.replaceAll('|', '\\|')}\``;

/** Attributes of a body, the required and the refused ones marked; or all members of one that is not a resource. */
const attributesOf = (schema: Schema | undefined): string[] => {
  const data = schema?.properties?.data?.properties;
  const of = data ? data.attributes : schema;
  return [
    ...Object.keys(of?.properties ?? {}).map((name) => code(name) + (of?.required?.includes(name) ? '\\*' : '')),
    ...Object.keys(data?.relationships?.properties ?? {}).map((name) => `→ ${code(name)}`),
    ...(of?.['x-refused'] ?? []).map((name) => `${code(name)} (refused)`),
  ];
};

const bodyOf = ({ requestBody }: Operation): string => {
  const schema = Object.values(requestBody?.content ?? {})[0]?.schema;
  return [...new Set((schema?.anyOf ?? [schema]).flatMap(attributesOf))].join(', ');
};

/** `201 workspaces` */
const answersOf = ({ responses }: Operation): string =>
  Object.entries(responses)
    .filter(([status]) => status < '4')
    .map(([status, { content = {} }]) => {
      const [type = '', kind] = (Object.values(content)[0]?.schema?.$ref ?? '').replace(/^.*\//, '').split('.');
      return kind ? `${status} ${code(type)}${kind === 'list' ? ' list' : ''}` : status;
    })
    .join(', ');

const queryOf = ({ parameters }: Operation): string =>
  parameters
    .flatMap((parameter) =>
      parameter.in === 'query' && !parameter.name.startsWith('page[') ? code(parameter.name) : [],
    )
    .join(', ');

/** @returns Markdown */
export const apiReference = (text: string): string => {
  const { info, paths } = JSON.parse(text) as Description;
  const all = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const groups = Map.groupBy(all, ({ operation }) => operation.tags[0] ?? '');
  const parts = [...groups].map(([tag, rows]) =>
    [
      `## ${tag}`,
      '',
      '| request | permission | query | attributes, → relationships | response |',
      '|---|---|---|---|---|',
      ...rows.map(
        ({ method, path, operation }) =>
          `| ${code(`${method} ${path.replace('/api/v2', '')}`)} | ${code(operation['x-permission'])} | ${queryOf(operation)} | ${bodyOf(operation)} | ${answersOf(operation)} |`,
      ),
    ].join('\n'),
  );
  return [
    '# API reference',
    '<!-- keywords: OpenAPI, Swagger, REST API, API documentation, endpoints, requests, routes -->',
    `${info.description} Types of attributes and responses are in the description itself: \`GET /api/v2/openapi.json\` (OpenAPI 3.1).`,
    'Paths are below `/api/v2`. \\* marks required attributes; refused ones are those of HCP Terraform that are refused by name. Lists take `page[number]` and `page[size]`.',
    ...parts,
  ].join('\n\n');
};
