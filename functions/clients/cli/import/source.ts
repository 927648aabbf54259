import { setTimeout as sleep } from 'node:timers/promises';
import type { Resource } from '#clients/client/client.ts';
import { isLoopback } from '#platform/net/transport/plain-http.ts';
import { CommandError } from '../exit.ts';
import { plain } from '../paint.ts';

/**
 * Reads from another platform with HCP Terraform's API v2. Its responses are untrusted: links may lead anywhere, lists may
 * never end, bodies may have any size. Its token is sent to its own origin only.
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

/** The body, up to a size limit. @throws {SourceError} */
const bodyOf = async (response: Response, maxBytes: number): Promise<Buffer> => {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > maxBytes) throw new SourceError(`the source’s response is larger than ${maxBytes} bytes`);
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
      throw new CommandError(`--from needs https, because it would send a token to ${this.#base.host}.`);
    }
    this.#token = token;
  }

  /** The URL of a link, if it is safe to follow. @throws {SourceError} */
  #target(link: string, from: URL): URL {
    const url = URL.canParse(link, from.href) ? new URL(link, from.href) : undefined;
    const isSafe =
      url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(this.#base) && isLoopback(url));
    if (!url || !isSafe || url.username || url.password)
      throw new SourceError('the source links to an unsafe address, which is not followed');
    return url;
  }

  async #send(url: URL): Promise<Response> {
    // The token goes to this origin only, not even to another port of the host.
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
        throw new SourceError(`the source responded with ${response.status} ${reasonIn(body)}`.trim(), response.status);
      }
    } catch (error) {
      if (error instanceof SourceError) throw error;
      throw new SourceError(`can’t reach the source: ${(error as Error).message}`);
    }
  }

  async #page(path: string): Promise<Page> {
    const body = await this.bytes(`${this.#base.href.replace(/\/$/, '')}/api/v2${path}`, maxDocumentBytes);
    try {
      return JSON.parse(body.toString('utf8')) as Page;
    } catch {
      throw new SourceError('the source’s response is not JSON');
    }
  }

  /** @param path below `/api/v2`, its parts encoded */
  async get(path: string): Promise<Resource> {
    const [resource] = resourceOf((await this.#page(path)).data);
    if (resource) return resource;
    throw new SourceError('the source’s response contains no resource');
  }

  /** All pages. */
  async all(path: string): Promise<Resource[]> {
    const resources: Resource[] = [];
    const mark = path.includes('?') ? '&' : '?';
    for (let number = 1, pages = 0; ; pages++) {
      const { data, meta } = await this.#page(`${path}${mark}page[size]=100&page[number]=${number}`);
      if (Array.isArray(data)) resources.push(...data.flatMap(resourceOf));
      const next = meta?.pagination?.['next-page'];
      // Stops at a list whose pages repeat or never end.
      if (typeof next !== 'number' || next <= number || pages >= maxPages) return resources;
      number = next;
    }
  }

  /** Like {@link all}, but empty when the source has no such list. */
  async allIfAny(path: string): Promise<Resource[]> {
    try {
      return await this.all(path);
    } catch (error) {
      if (error instanceof SourceError && error.status === 404) return [];
      throw error;
    }
  }
}

/** Encodes a name or id of the source for a path. */
export const part = (text: string): string => encodeURIComponent(text);
