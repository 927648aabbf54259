import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isAbsolute, relative } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { contentsOf, filesBelow } from '#test/support/stored.ts';
import type { Local } from './platform.ts';

/** Secrets that cannot occur by chance, and a search for them in every encoding. */

/**
 * Base64 of a text inside another one: three forms, depending on its offset, without the ends that depend on the
 * neighbors.
 */
const base64Of = (text: string): string[] =>
  [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]).toString('base64');
    return encoded.slice(Math.ceil((before * 4) / 3), Math.floor(((before + text.length) * 4) / 3));
  });

const formsOf = (core: string): string[] => [
  core,
  core.toUpperCase(),
  Buffer.from(core).toString('hex'),
  ...base64Of(core).flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')]),
];

/** Patterns of all tokens of the platform. */
const tokens: [string, RegExp][] = [
  ['a token of a runner', /run-[A-Za-z0-9]{16}\.(plan|apply)\.[\w-]{40,}/],
  ['a token of the platform', /\bsf[a-z]{1,8}_[A-Za-z0-9_.-]{43,}/],
  ['a workload identity token', /eyJ[\w-]{20,}\.eyJ[\w-]{20,}\./],
  ['a presigned URL', /X-Amz-Signature=[0-9a-f]{64}/],
];

export interface Find {
  secret: string;
  place: string;
}

export class Canaries {
  readonly #forms = new Map<string, Buffer[]>();

  /** A new secret; if it has several words, each of them is searched for. `written` adds text around it. */
  plant(name: string, { words = 1, written = (core: string) => core } = {}): string {
    const cores = Array.from({ length: words }, () => randomBytes(8).toString('hex'));
    this.know(name, ...cores);
    return written(cores.join(' '));
  }

  /** Adds a secret that was not created here. */
  know(name: string, ...cores: string[]): void {
    this.#forms.set(
      name,
      cores.flatMap(formsOf).map((form) => Buffer.from(form)),
    );
  }

  /** The secrets in the bytes, compressed or not. */
  in(bytes: Buffer): string[] {
    const canaries = [...this.#forms].filter(([, forms]) => forms.some((form) => bytes.includes(form)));
    return [...new Set([...canaries.map(([name]) => name), ...this.#compressed(bytes)])];
  }

  /** Also finds tokens, which must not be stored at all. */
  inFolder(folder: string): Find[] {
    return filesBelow(folder).flatMap((place) => this.#at(place, readFileSync(place)));
  }

  /** In a data folder: also each object and journal of its database, by its own place. */
  inDataFolder(folder: string): Find[] {
    return contentsOf(folder).flatMap(({ place, content }) =>
      this.#at(isAbsolute(place) ? relative(folder, place) : place, content),
    );
  }

  #at(place: string, bytes: Buffer): Find[] {
    return [...this.in(bytes), ...tokensIn(bytes.toString('latin1'))].map((secret) => ({ secret, place }));
  }

  /** Searches every item, as the table returns it. */
  async inTable({ awsCredentials: credentials, awsEndpointUrl: endpoint, tableName: TableName }: Local) {
    const client = new DynamoDBClient({ endpoint, region: 'us-east-1', credentials });
    const finds: Find[] = [];
    let items = 0;
    for await (const { Items = [] } of paginateScan({ client }, { TableName })) {
      for (const item of Items) {
        const text = JSON.stringify(item, (_, value: unknown) =>
          value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
        );
        items++;
        const place = `${item.pk?.S} ${item.sk?.S}`;
        for (const secret of [...this.in(Buffer.from(text, 'latin1')), ...tokensIn(text)])
          finds.push({ secret, place });
      }
    }
    return { found: finds, items };
  }

  #compressed(bytes: Buffer): string[] {
    if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return [];
    return this.in(gunzipSync(bytes));
  }
}

const tokensIn = (text: string): string[] => tokens.filter(([, form]) => form.test(text)).map(([name]) => name);
