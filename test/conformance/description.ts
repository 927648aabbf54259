import { readFileSync } from 'node:fs';
import type { Recorded } from './record.ts';
import { differences, type Schema, type Schemas } from './schema.ts';

/** HCP Terraform's description of the API (OpenAPI 3.0), and the comparison with responses. */

interface Response {
  content?: Record<string, { schema?: Schema }>;
}
interface Document {
  paths: Record<string, Record<string, { responses: Record<string, Response> }>>;
  components: { schemas: Schemas };
}

export interface Findings {
  /** Place and problem → an example, and the number of occurrences. */
  differences: Map<string, { example: string; times: number }>;
  /** Number of responses that were compared. */
  checked: number;
  /** Operations of the description that got a response. */
  operations: Set<string>;
}

const base = '/api/v2';
const mediaType = 'application/vnd.api+json';

/** `/runs/{run_id}` → a pattern for paths of that kind */
export const patternOf = (template: string): RegExp =>
  new RegExp(`^${template.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`);

export class Description {
  readonly #document: Document;
  readonly #templates: { template: string; pattern: RegExp }[];

  constructor(file: string) {
    this.#document = JSON.parse(readFileSync(file, 'utf8')) as Document;
    const fewest = (template: string) => template.split('{').length;
    this.#templates = Object.keys(this.#document.paths)
      .sort((a, b) => fewest(a) - fewest(b))
      .map((template) => ({ template, pattern: patternOf(template) }));
  }

  /** The number of operations, and those that no route serves. */
  coverage(routes: Iterable<{ method: string; path: string }>): { operations: number; notServed: string[] } {
    const unnamed = (path: string) => path.replaceAll(/\{[^}]+\}/g, '{}');
    const served = new Set([...routes].map(({ method, path }) => `${method} ${unnamed(path)}`));
    const operations = Object.entries(this.#document.paths).flatMap(([path, methods]) =>
      Object.keys(methods)
        .filter((method) => /^(get|post|put|patch|delete)$/.test(method))
        .map((method) => ({ method: method.toUpperCase(), path })),
    );
    const missing = operations.filter(({ method, path }) => !served.has(`${method} ${base}${unnamed(path)}`));
    return { operations: operations.length, notServed: missing.map(({ method, path }) => `${method} ${path}`) };
  }

  check(answers: Iterable<Recorded>): Findings {
    const findings: Findings = { differences: new Map(), checked: 0, operations: new Set() };
    for (const answer of answers) this.#checkOne(answer, findings);
    return findings;
  }

  #checkOne(answer: Recorded, findings: Findings): void {
    const [path = ''] = answer.url.slice(base.length).split('?');
    if (!answer.url.startsWith(`${base}/`)) return;
    const example = `${answer.method} ${answer.url.slice(base.length)} → ${answer.status}`;
    const tell = (place: string, problem: string) => {
      const key = `${place}: ${problem}`;
      const recorded = findings.differences.get(key);
      findings.differences.set(key, { example: recorded?.example ?? example, times: (recorded?.times ?? 0) + 1 });
    };
    const template = this.#templates.find(({ pattern }) => pattern.test(path));
    const operation = template && this.#document.paths[template.template]?.[answer.method.toLowerCase()];
    const name = `${answer.method} ${template?.template}`;
    if (operation) {
      findings.operations.add(name);
      findings.checked++;
    }
    // An error response must have the error format in every operation.
    if (answer.status >= 400) this.#checkBody(answer, errorsOnly, name, tell);
    else if (operation) this.#checkBody(answer, operation.responses, name, tell);
    else tell(`${answer.method} ${genericOf(path)}`, 'is not described');
  }

  #checkBody(
    { status, contentType, body: text }: Recorded,
    responses: Record<string, Response>,
    name: string,
    tell: (place: string, problem: string) => void,
  ): void {
    const { schemas } = this.#document.components;
    const response = status >= 400 ? responses.default : responses[status];
    if (!response) tell(name, `answers ${status}, which is not described`);
    if (!response) return;
    const { content = {} } = response;
    const described = Object.keys(content).length > 0;
    if (described !== !!text) tell(name, `has ${text ? 'a' : 'no'} body with ${status}`);
    if (!described || !text) return;
    const schema = content[contentType]?.schema;
    if (!schema) tell(name, `has content type ${contentType}`);
    // Only JSON is checked.
    if (!schema || contentType !== mediaType) return;
    const { included = [], ...rest } = JSON.parse(text) as { included?: { type: string }[] };
    differences(rest, schema, schemas, name, tell);
    for (const resource of included) {
      if (schemas[resource.type]) differences(resource, reference(resource.type), schemas, '', tell);
      else tell(`included ${resource.type}`, 'is not described');
    }
  }
}

const reference = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

const errorsOnly: Record<string, Response> = { default: { content: { [mediaType]: { schema: reference('errors') } } } };

/** `/runs/run-CZcmD7eagjhyX0vN/run-events` → `/runs/{}/run-events` */
const genericOf = (path: string): string =>
  path
    .split('/')
    .map((segment, i, all) =>
      /^[a-z]+-[A-Za-z0-9]{12,}$/.test(segment) || (i > 0 && /^(organizations|users)$/.test(all[i - 1] ?? ''))
        ? '{}'
        : segment,
    )
    .join('/');
