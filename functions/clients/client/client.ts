import { type DirectAction, isFinal } from '#run/status.ts';
import type { Attributes, Meta, ResourceType } from './documents.ts';
import { ApiError, ForeignServerError, UnreachableError } from './errors.ts';
import { isRepeatable, withKey } from './repeats.ts';

export { ApiError, ForeignServerError, UnreachableError };

/**
 * A minimal client of the public API (HCP Terraform API v2), for the command line, the page, the demo, the benchmark and
 * the tests. Errors contain the server's messages.
 */

// biome-ignore lint/suspicious/noExplicitAny: scripts and tests may leave types open
type Open = any;

/** @typeParam T type of the resource, which determines its attributes */
export interface Resource<T extends ResourceType = Open> {
  id: string;
  type: string;
  attributes: Attributes[T];
  relationships?: Record<string, { data?: { id: string; type: string } | { id: string; type: string }[] | null }>;
  links?: Record<string, string>;
  /** ETag of settings with optimistic locking: sent as `If-Match` with a change. */
  etag?: string;
}

export interface Document<D = Resource> {
  data: D;
  included?: Resource[];
  meta?: Meta;
}

export interface Listed<T extends ResourceType = Open> {
  data: Resource<T>[];
  included: Resource[];
}

/** @throws {ForeignServerError} when it is not a document of this API */
const documentIn = <D>(text: string, url: string): Document<D> => {
  try {
    const document: unknown = JSON.parse(text);
    if (typeof document === 'object' && document !== null && !Array.isArray(document)) return document as Document<D>;
  } catch {
    // Thrown below.
  }
  throw new ForeignServerError(url);
};

const mediaType = 'application/vnd.api+json';
const maxTries = 10;

/** Repeats a request that the rate limit rejected, after the delay in the response. */
const withRetries = async (send: () => Promise<Response>): Promise<Response> => {
  for (let tries = 1; ; tries++) {
    const response = await send();
    if (response.status !== 429 || tries === maxTries) return response;
    await response.body?.cancel();
    const seconds = Number(response.headers.get('x-ratelimit-reset') ?? response.headers.get('retry-after')) || 1;
    await new Promise((resolve) => setTimeout(resolve, (seconds + Math.random() * 0.3) * 1000));
  }
};

export class Client {
  readonly url: string;
  readonly #headers: Record<string, string>;

  /** @param url of the platform, without a path  @param program `name/version` for User-Agent, outside of browsers */
  constructor(url: string, token: string, program?: string) {
    this.url = url.replace(/\/$/, '');
    this.#headers = { authorization: `Bearer ${token}`, ...(program ? { 'user-agent': program } : {}) };
  }

  /** @throws {UnreachableError} */
  async #fetch(path: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(`${this.url}/api/v2${path}`, init);
    } catch (error) {
      throw new UnreachableError(this.url, (error as Error).cause ?? error);
    }
  }

  /** Sends a request below `/api/v2`; repeats a run's creation after a lost response. @throws {ApiError} for 4xx and 5xx */
  call<D = Resource>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Document<D>> {
    const send = (more: Record<string, string> = {}) => this.#send<D>(method, path, body, { ...more, ...headers });
    return isRepeatable(method, path) ? withKey(send) : send();
  }

  async #send<D>(method: string, path: string, body: unknown, headers: Record<string, string>): Promise<Document<D>> {
    const init = {
      method,
      headers: {
        ...this.#headers,
        accept: mediaType,
        ...(body === undefined ? {} : { 'content-type': mediaType }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    };
    const response = await withRetries(() => this.#fetch(path, init));
    const text = await response.text();
    if (!response.ok) throw new ApiError(method, path, response.status, text);
    const answer = text ? documentIn<D>(text, this.url) : ({ data: undefined } as Document<D>);
    const etag = response.headers.get('etag');
    if (etag && answer.data) Object.assign(answer.data as object, { etag });
    return answer;
  }

  /** For endpoints that respond with plain text. @throws {ApiError} */
  async text(path: string): Promise<string> {
    const response = await this.#fetch(path, { headers: this.#headers });
    const text = await response.text();
    if (!response.ok) throw new ApiError('GET', path, response.status, text);
    return text;
  }

  /** Any content, also such that the API redirects to storage for: a state, a plan. @throws {ApiError} */
  async content(
    path: string,
    init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {},
  ): Promise<Response> {
    const { method = 'GET' } = init;
    const headers = { ...this.#headers, ...init.headers };
    const response = await withRetries(() => this.#fetch(path, { ...init, method, headers }));
    if (!response.ok) throw new ApiError(method, path, response.status, await response.text());
    return response;
  }

  /** Uploads content that is not a JSON:API document, such as a policy. @throws {ApiError} */
  async put(path: string, content: string): Promise<void> {
    const headers = { ...this.#headers, 'content-type': 'application/octet-stream' };
    const response = await this.#fetch(path, { method: 'PUT', headers, body: content });
    if (!response.ok) throw new ApiError('PUT', path, response.status, await response.text());
  }

  async get<T extends ResourceType = Open>(path: string): Promise<Resource<T>> {
    return (await this.call<Resource<T>>('GET', path)).data;
  }

  async list<T extends ResourceType = Open>(path: string): Promise<Resource<T>[]> {
    return (await this.call<Resource<T>[]>('GET', path)).data;
  }

  /** Up to `limit` entries of a list, from as many pages as needed. */
  async some<T extends ResourceType = Open>(path: string, limit: number): Promise<Listed<T> & { more: boolean }> {
    const listed: Listed<T> = { data: [], included: [] };
    let page: number | null = 1;
    while (page && listed.data.length < limit) {
      const mark = path.includes('?') ? '&' : '?';
      const size = Math.min(limit, 100);
      const answer: Document<Resource<T>[]> = await this.call(
        'GET',
        `${path}${mark}page[size]=${size}&page[number]=${page}`,
      );
      listed.data.push(...answer.data);
      listed.included.push(...(answer.included ?? []));
      page = answer.meta?.pagination?.['next-page'] ?? null;
    }
    return { ...listed, data: listed.data.slice(0, limit), more: page !== null || listed.data.length > limit };
  }

  async create(
    path: string,
    type: string,
    attributes: Record<string, unknown>,
    relationships?: Record<string, { data: unknown }>,
  ): Promise<Resource> {
    return (await this.call('POST', path, { data: { type, attributes, relationships } })).data;
  }

  createWorkspace(
    organization: string,
    name: string,
    attributes: Record<string, unknown> = {},
    projectId?: string,
  ): Promise<Resource<'workspaces'>> {
    const project = projectId && { project: { data: { type: 'projects', id: projectId } } };
    const path = `/organizations/${organization}/workspaces`;
    return this.create(path, 'workspaces', { name, ...attributes }, project || undefined);
  }

  setVariable(workspaceId: string, attributes: Record<string, unknown>): Promise<Resource<'vars'>> {
    return this.create(`/workspaces/${workspaceId}/vars`, 'vars', { category: 'terraform', ...attributes });
  }

  /** Uploads a configuration archive (gzip tar) and waits up to 30 s until the platform has processed it. */
  async upload(workspaceId: string, archive: Uint8Array, attributes: Record<string, unknown> = {}): Promise<Resource> {
    const version = await this.create(`/workspaces/${workspaceId}/configuration-versions`, 'configuration-versions', {
      'auto-queue-runs': false,
      ...attributes,
    });
    const put = await fetch(version.attributes['upload-url'], {
      method: 'PUT',
      headers: { 'content-type': 'application/octet-stream' },
      body: archive as RequestInit['body'],
    });
    if (!put.ok) throw new ApiError('PUT', 'the upload URL', put.status, await put.text());
    return until(
      () => this.get(`/configuration-versions/${version.id}`),
      ({ attributes: { status } }) => status !== 'pending' && status !== 'fetching',
      30_000,
    );
  }

  createRun(
    workspaceId: string,
    attributes: Record<string, unknown> = {},
    configurationVersionId?: string,
  ): Promise<Resource> {
    return this.create('/runs', 'runs', attributes, {
      workspace: { data: { type: 'workspaces', id: workspaceId } },
      ...(configurationVersionId
        ? { 'configuration-version': { data: { type: 'configuration-versions', id: configurationVersionId } } }
        : {}),
    });
  }

  run(id: string): Promise<Resource<'runs'>> {
    return this.get(`/runs/${id}`);
  }

  /** @returns the server's description of its effect, where the action's name alone would mislead */
  async act(runId: string, action: DirectAction, comment?: string): Promise<string | undefined> {
    const { meta } = await this.call('POST', `/runs/${runId}/actions/${action}`, comment ? { comment } : {});
    return meta?.message;
  }

  /** The plan or apply of a run. */
  phase(run: Resource, phase: 'plan' | 'apply'): Promise<Resource> {
    const data = run.relationships?.[phase]?.data as { id: string } | undefined;
    return this.get(`/${phase === 'plan' ? 'plans' : 'applies'}/${data?.id}`);
  }

  /** Waits until a run meets a condition, e.g. is final. */
  async waitForRun(id: string, done: (run: Resource<'runs'>) => boolean, ms = 600_000): Promise<Resource<'runs'>> {
    return until(() => this.run(id), done, ms);
  }
}

export const isFinalRun = ({ attributes }: Resource<'runs'>): boolean => isFinal(attributes.status);

/** Id of the related resource, or of the first one. */
export const related = (resource: Resource | undefined, name: string): string | undefined => {
  const data = resource?.relationships?.[name]?.data;
  return Array.isArray(data) ? data[0]?.id : data?.id;
};

/** Ids of a relationship to several resources. */
export const relatedIds = (resource: Pick<Resource, 'relationships'> | undefined, name: string): string[] => {
  const data = resource?.relationships?.[name]?.data;
  return Array.isArray(data) ? data.map(({ id }) => String(id)) : [];
};

/** Polls with backoff until the condition is met. @throws {Error} after the time limit */
export const until = async <T>(ask: () => Promise<T>, done: (answer: T) => boolean, ms: number): Promise<T> => {
  const deadline = Date.now() + ms;
  for (let wait = 20; ; wait = Math.min(wait * 1.3, 250)) {
    const answer = await ask();
    if (done(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`not met after ${ms} ms: ${JSON.stringify(answer).slice(0, 600)}`);
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
};
