import { setTimeout as sleep } from 'node:timers/promises';
import type { Resource } from '../../client/client.ts';
import { CommandError } from '../exit.ts';
import { plain } from '../paint.ts';

/**
 * Reads from another platform that speaks HCP Terraform's API v2. What it answers is foreign input: its links lead
 * anywhere, its pages need not end, its answers may have any size. Its token goes to its own origin only.
 */

const maxDocumentBytes = 32 * 1024 * 1024;
const maxPages = 1000;
const maxRedirects = 3;
const maxTries = 8;
const timeoutMs = 120_000;

class SourceError extends CommandError {
  override name = 'SourceError';
  readonly status: number;

  constructor(message: string, status = 0) {
    super(message);
    this.status = status;
  }
}

const isLoopback = ({ hostname }: URL): boolean => ['localhost', '127.0.0.1', '[::1]'].includes(hostname);

/** At most so much of an answer. */
const bodyOf = async (response: Response, maxBytes: number): Promise<Buffer> => {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > maxBytes) throw new SourceError(`answers with more than ${maxBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
};

const reasonIn = (body: Buffer): string => {
  try {
    const { errors } = JSON.parse(body.toString('utf8')) as { errors?: { title?: unknown; detail?: unknown }[] };
    const [first] = errors ?? [];
    return plain(String(first?.detail ?? first?.title ?? '')).slice(0, 300);
  } catch {
    return '';
  }
};

interface Page {
  data?: unknown;
  meta?: { pagination?: { 'next-page'?: unknown } };
}

const isResource = (value: unknown): value is Resource => {
  const { id, type, attributes } = (value ?? {}) as Partial<Resource>;
  return (
    typeof id === 'string' && typeof type === 'string' && (attributes === undefined || typeof attributes === 'object')
  );
};

const resourceOf = (value: unknown): Resource[] =>
  isResource(value) ? [{ ...value, attributes: value.attributes ?? {} }] : [];

export class Source {
  readonly #base: URL;
  readonly #token: string;

  /** @param url of the platform, without `/api/v2` */
  constructor(url: string, token: string) {
    this.#base = new URL(url);
    if (this.#base.protocol !== 'https:' && !isLoopback(this.#base)) {
      throw new CommandError(`--from must be reached by https: a token is sent to ${this.#base.host}.`);
    }
    this.#token = token;
  }

  /** Where a link leads, if it may be followed. @throws {SourceError} */
  #target(link: string, from: URL): URL {
    const url = URL.canParse(link, from.href) ? new URL(link, from.href) : undefined;
    const isSafe =
      url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(this.#base) && isLoopback(url));
    if (!url || !isSafe || url.username || url.password)
      throw new SourceError('links to an address that is not followed');
    return url;
  }

  async #send(url: URL): Promise<Response> {
    // Nobody else gets the token, also not another port of the same host.
    const headers: Record<string, string> =
      url.origin === this.#base.origin
        ? { authorization: `Bearer ${this.#token}`, accept: 'application/vnd.api+json, application/octet-stream' }
        : {};
    for (let tries = 1; ; tries++) {
      const response = await fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
      if (response.status !== 429 || tries === maxTries) return response;
      await response.body?.cancel();
      const seconds = Number(response.headers.get('retry-after') ?? response.headers.get('x-ratelimit-reset')) || 1;
      await sleep(Math.min(seconds, 30) * 1000);
    }
  }

  /** @throws {SourceError} */
  async bytes(link: string, maxBytes: number): Promise<Buffer> {
    let url = this.#target(link, this.#base);
    try {
      for (let redirects = 0; ; redirects++) {
        const response = await this.#send(url);
        const location = response.headers.get('location');
        if (response.status >= 300 && response.status < 400 && location && redirects < maxRedirects) {
          await response.body?.cancel();
          url = this.#target(location, url);
          continue;
        }
        const body = await bodyOf(response, maxBytes);
        if (response.ok) return body;
        throw new SourceError(`the source answered ${response.status} ${reasonIn(body)}`.trim(), response.status);
      }
    } catch (error) {
      if (error instanceof SourceError) throw error;
      throw new SourceError(`the source cannot be reached: ${(error as Error).message}`);
    }
  }

  async #page(path: string): Promise<Page> {
    const body = await this.bytes(`${this.#base.href.replace(/\/$/, '')}/api/v2${path}`, maxDocumentBytes);
    try {
      return JSON.parse(body.toString('utf8')) as Page;
    } catch {
      throw new SourceError('the source answered with something else than JSON');
    }
  }

  /** @param path below `/api/v2`, its parts encoded */
  async get(path: string): Promise<Resource> {
    const [resource] = resourceOf((await this.#page(path)).data);
    if (resource) return resource;
    throw new SourceError('the source answered without a resource');
  }

  /** All pages. */
  async all(path: string): Promise<Resource[]> {
    const found: Resource[] = [];
    const mark = path.includes('?') ? '&' : '?';
    for (let number = 1, pages = 0; ; pages++) {
      const { data, meta } = await this.#page(`${path}${mark}page[size]=100&page[number]=${number}`);
      if (Array.isArray(data)) found.push(...data.flatMap(resourceOf));
      const next = meta?.pagination?.['next-page'];
      // One that goes on for ever, or back, ends here.
      if (typeof next !== 'number' || next <= number || pages >= maxPages) return found;
      number = next;
    }
  }

  /** As {@link all}; none where the source does not have such a list. */
  async allIfAny(path: string): Promise<Resource[]> {
    try {
      return await this.all(path);
    } catch (error) {
      if (error instanceof SourceError && error.status === 404) return [];
      throw error;
    }
  }
}

/** A part of a path: names and ids are the source's. */
export const part = (text: string): string => encodeURIComponent(text);
