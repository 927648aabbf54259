import { Ajv2020 } from 'ajv/dist/2020.js';
import { patternOf } from './description.ts';
import type { Recorded } from './record.ts';

/** The project's own description of the API, held against responses. */

interface Content {
  content?: Record<string, { schema?: { $ref?: string; type?: string } }>;
}

export interface OwnDescription {
  paths: Record<string, Record<string, { responses: Record<string, Content & { description?: string }> }>>;
  components: { schemas: Record<string, { properties?: { data?: { $ref?: string; items?: { $ref?: string } } } }> };
}

const nameOf = ($ref = ''): string => $ref.replace(/^.*\//, '');

/** Differences of successful responses from their operations: the status, the content, and the types of resources. */
export const undescribed = (description: OwnDescription, answers: Iterable<Recorded>): string[] => {
  const paths = Object.keys(description.paths)
    .sort((a, b) => a.split('{').length - b.split('{').length)
    .map((path) => ({ path, pattern: patternOf(path) }));
  const found = new Set<string>();
  for (const { method, url, status, contentType, body } of answers) {
    const [sent = ''] = url.split('?');
    const methods = paths.filter(({ pattern }) => pattern.test(sent)).map(({ path }) => path);
    const path = methods.find((one) => description.paths[one]?.[method.toLowerCase()]);
    const responses = path && description.paths[path]?.[method.toLowerCase()]?.responses;
    if (!responses || status >= 400) continue;
    const report = (problem: string) => found.add(`${method} ${path}: ${status} ${problem}`);
    const response = responses[status];
    if (!response) report(`is not among ${Object.keys(responses).filter((one) => one < '4')}`);
    else for (const problem of problemsOf(description, response, contentType, body)) report(problem);
  }
  return [...found].sort();
};

const ajv = new Ajv2020({ strict: false });

const contentOf = (body: string, contentType: string): unknown =>
  contentType.includes('json') ? JSON.parse(body) : body;

const problemsOf = (
  { components }: OwnDescription,
  { content }: Content,
  contentType: string,
  body: string | undefined,
): string[] => {
  if (!content) return body ? ['has a body'] : [];
  const described = content[contentType.split(';')[0] ?? ''];
  // An empty text, and run actions without a message.
  if (!body) return Object.values(content).some(({ schema }) => !schema?.$ref) ? [] : ['has no body'];
  if (!described) return [`is ${contentType}`];
  if (!described.schema?.$ref)
    return ajv.validate(described.schema ?? {}, contentOf(body, contentType)) ? [] : [ajv.errorsText()];
  const name = nameOf(described.schema.$ref);
  const expected = components.schemas[name]?.properties?.data;
  const { data } = JSON.parse(body) as { data?: { type: string } | { type: string }[] };
  const isList = expected?.items !== undefined;
  if (Array.isArray(data) !== isList) return [`is ${isList ? 'no' : 'a'} list`];
  const type = nameOf(expected?.items?.$ref ?? expected?.$ref);
  const others = [data ?? []].flat().filter((resource) => type !== 'Resource' && resource.type !== type);
  return others.map((resource) => `has ${resource.type}, not ${type}`);
};
