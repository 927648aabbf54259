import { readFile } from 'node:fs/promises';
import type { Client, Document } from '#clients/client/client.ts';
import { type Call, type Command, ofWorkspace } from '../arguments.ts';
import { wrongUsage } from '../exit.ts';
import { program } from '../program.ts';
import type { Session } from '../session.ts';
import { print, readInput } from '../terminal.ts';

/** Any request to the API, with the stored token. */

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** @throws {CommandError} */
const methodOf = (word: string): string => {
  const method = word.toUpperCase();
  if (methods.some((one) => one === method)) return method;
  throw wrongUsage(`${word}: not a method of the API. Give one of ${methods.join(', ')}`);
};

/** Below `/api/v2`, with the names of the options or the folder. @throws {CommandError} for another host */
const pathOf = async (word: string, session: Session): Promise<string> => {
  if (word.includes('://')) throw wrongUsage(`${word}: give a path, and the server with --host`);
  let path = `/${word.replace(/^\/*(api\/v2(\/|$))?/, '')}`;
  if (path.includes('{organization}'))
    path = path.replaceAll('{organization}', encodeURIComponent(await session.organization()));
  if (path.includes('{workspace}')) {
    const { id, attributes } = await session.workspace();
    // Below an organization, workspaces have their names.
    path = path
      .replaceAll(/(\/organizations\/[^/]+\/workspaces\/)\{workspace\}/g, `$1${encodeURIComponent(attributes.name)}`)
      .replaceAll('{workspace}', id);
  }
  const [unknown] = /\{[^}]*\}/.exec(path) ?? [];
  if (unknown) throw wrongUsage(`${unknown}: give {organization}, {workspace} or a value`);
  return path;
};

/** `true`, `false`, `null` and numbers as such, `@file` as its content, other text as text. */
const typed = async (text: string): Promise<unknown> => {
  if (text.startsWith('@')) return (await inputOf(text.slice(1))).toString('utf8');
  return /^(true|false|null|-?(0|[1-9]\d*)(\.\d+)?)$/.test(text) ? JSON.parse(text) : text;
};

const inputOf = (file: string): Promise<Buffer> => (file === '-' ? readInput() : readFile(file));

type Fields = [key: string, value: unknown][];

/** @throws {CommandError} */
const fieldsOf = async (call: Call): Promise<Fields> => {
  const split = (option: string) => (text: string) => {
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    if (key === undefined || value === undefined) throw wrongUsage(`--${option} ${text}: give <key>=<value>`);
    return [key, value] as const;
  };
  const fields: Fields = call.texts('raw-field').map((text) => [...split('raw-field')(text)]);
  for (const text of call.texts('field')) {
    const [key, value] = split('field')(text);
    fields.push([key, await typed(value)]);
  }
  return fields;
};

type Tree = Record<string, unknown>;

/** Adds the value at `a[b][]`. @throws {CommandError} if that is within a text or number */
const put = (tree: Tree, key: string, value: unknown): void => {
  const [first = '', ...more] = key.split('[').map((part) => part.replace(/\]$/, ''));
  const parts = [first, ...more];
  let at: Tree = tree;
  for (const [n, part] of parts.entries()) {
    const next = parts[n + 1];
    if (next === undefined) at[part] = value;
    else if (next === '') {
      at[part] = [...((at[part] as unknown[] | undefined) ?? []), value];
      return;
    } else {
      at[part] ??= Object.create(null);
      if (typeof at[part] !== 'object') throw wrongUsage(`${key}: ${part} already has a value`);
      at = at[part] as Tree;
    }
  }
};

/** Attributes of `data`; names with brackets, and fields of an action, begin at the body's root. */
const bodyOf = (path: string, fields: Fields): Tree => {
  const isAction = /\/actions\/[^/]+$/.test(path);
  const body: Tree = Object.create(null);
  for (const [key, value] of fields)
    put(
      body,
      isAction || /^(data|included)\[/.test(key)
        ? key
        : `data[attributes][${key.replace('[', '][')}${key.includes('[') ? '' : ']'}`,
      value,
    );
  return body;
};

const withQuery = (path: string, fields: Fields): string => {
  const query = fields.map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(String(value))}`);
  return query.length ? `${path}${path.includes('?') ? '&' : '?'}${query.join('&')}` : path;
};

const jsonType = 'application/vnd.api+json';

type Pages = Document<unknown> & { data: unknown[] };

/** All pages of a list as one document. @throws {ApiError} */
const allPages = async (client: Client, path: string): Promise<Pages> => {
  const { data, included } = await client.some(path, Number.MAX_SAFE_INTEGER);
  return { data, ...(included.length ? { included } : {}) };
};

const printLines = (document: unknown): void => {
  const { data } = document as { data?: unknown };
  for (const one of Array.isArray(data) ? data : [data ?? document]) print(JSON.stringify(one));
};

export const api: Command = {
  name: 'api',
  about: 'Send any request to the API, and print its response',
  takes: '<method> <path>',
  options: {
    'raw-field': {
      about: 'field with a text: an attribute, or a parameter of GET; repeatable',
      value: 'key=value',
      short: 'f',
      multiple: true,
    },
    field: {
      about: 'as --raw-field; true, false, null, numbers and @file are converted',
      value: 'key=value',
      short: 'F',
      multiple: true,
    },
    input: { about: 'file with the body; - for standard input', value: 'file' },
    paginate: { about: 'GET all pages of a list' },
    lines: { about: 'print each resource of data as one line of JSON' },
    ...ofWorkspace,
  },
  more: `The path is below /api/v2. {organization} and {workspace} stand for those of the options or the folder. A field is an attribute of the
resource; a name with brackets begins at the root: data[relationships][project][data][id]. An error is printed to standard error, with an exit
code (${program} help exit-codes).

  ${program} api GET /organizations/{organization}/workspaces --paginate --lines | jq -r .attributes.name
  ${program} api GET /workspaces/{workspace}/runs -f 'filter[status]=errored'
  ${program} api PATCH /workspaces/{workspace} -F auto-apply=true -f description="Network of production"
  ${program} api POST /runs/run-abc/actions/apply -f comment=reviewed
  ${program} api POST /organizations/{organization}/workspaces --input workspace.json`,
  run: async (call, session) => {
    const method = methodOf(call.required(0));
    const input = call.text('input');
    const fields = await fieldsOf(call);
    if (input !== undefined && fields.length && method !== 'GET')
      throw wrongUsage('--input and fields cannot be combined. Give one of them.');
    if (call.flag('paginate') && method !== 'GET') throw wrongUsage('--paginate needs GET.');
    const named = await pathOf(call.required(1), session);
    const path = method === 'GET' ? withQuery(named, fields) : named;
    const show = (document: unknown): undefined => {
      if (call.flag('lines')) printLines(document);
      else print(JSON.stringify(document, null, 2));
    };
    if (call.flag('paginate')) return show(await allPages(session.client, path));
    const fromFields = method !== 'GET' && fields.length ? JSON.stringify(bodyOf(named, fields)) : undefined;
    const body = input === undefined ? fromFields : new Uint8Array(await inputOf(input));
    const headers = { accept: jsonType, ...(body === undefined ? {} : { 'content-type': jsonType }) };
    const response = await session.client.content(path, { method, headers, ...(body === undefined ? {} : { body }) });
    const content = Buffer.from(await response.arrayBuffer());
    if (/[/+]json\b/.test(response.headers.get('content-type') ?? ''))
      return show(JSON.parse(content.toString('utf8')));
    process.stdout.write(content);
    return undefined;
  },
};
