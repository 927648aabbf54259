import { ApiError, type Client, type Resource, related } from '../../client/client.ts';
import type { Journal } from './journal.ts';

/** The platform that is imported into. Nothing is written in a dry run: what would be there has a made-up id. */

type Attributes = Record<string, unknown>;
export type Relationships = Record<string, { data: unknown }>;

export interface Wanted {
  /** `workspace network` */
  item: string;
  type: string;
  /** What is there by that name; undefined for nothing. */
  existing: Resource | undefined;
  /** Where it is created. */
  path: string;
  /** Where it is changed, without its id; absent: at `/<type>`. */
  changeAt?: string;
  attributes: Attributes;
  /** Of a new one only. */
  initial?: Attributes;
  /** To one, which are compared by id; lists are for new ones. */
  relationships?: Relationships;
}

const isNothing = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);

/** Whether a document says what is wanted: of objects what is named, of nothing any form. */
const says = (value: unknown, wanted: unknown): boolean => {
  if (isNothing(wanted)) return isNothing(value);
  if (Array.isArray(wanted)) {
    return Array.isArray(value) && value.length === wanted.length && wanted.every((one, i) => says(value[i], one));
  }
  if (typeof wanted === 'object' && wanted !== null) {
    return Object.entries(wanted).every(([name, one]) => says((value as Attributes | null)?.[name], one));
  }
  return value === wanted;
};

const idOf = (relationship: { data: unknown } | undefined): string | undefined =>
  (relationship?.data as { id?: string } | null | undefined)?.id;

/** Fields that a refusal is about. */
const refusedFields = (error: unknown): Map<string, string> => {
  const refused = new Map<string, string>();
  if (!(error instanceof ApiError) || error.status !== 422) return refused;
  for (const { source, detail, title } of error.errors) {
    const [, field] = /^\/data\/attributes\/([^/]+)/.exec(source?.pointer ?? '') ?? [];
    if (field && field !== 'name' && field !== 'key') refused.set(field, detail ?? title);
  }
  return refused;
};

export class Target {
  readonly client: Client;
  readonly isDry: boolean;
  readonly #journal: Journal;
  #imagined = 0;

  constructor(client: Client, journal: Journal, isDry: boolean) {
    this.client = client;
    this.isDry = isDry;
    this.#journal = journal;
  }

  /** What is below something that would be created is not there yet. */
  async all(path: string): Promise<Resource[]> {
    if (path.includes(imagined)) return [];
    return (await this.client.some(path, 100_000)).data;
  }

  async call(method: string, path: string, body?: unknown): Promise<void> {
    if (!this.isDry) await this.client.call(method, path, body);
  }

  /**
   * Sends it without the fields that are refused by name, which are noted: a setting that is not known here must not keep
   * the rest from being copied.
   * @throws {ApiError}
   */
  async #send(item: string, attributes: Attributes, send: (some: Attributes) => Promise<Resource>): Promise<Resource> {
    let some = attributes;
    for (let tries = 1; ; tries++) {
      try {
        return await send(some);
      } catch (error) {
        const refused = refusedFields(error);
        const rest = Object.fromEntries(Object.entries(some).filter(([name]) => !refused.has(name)));
        if (tries === 5 || Object.keys(rest).length === Object.keys(some).length) throw error;
        for (const detail of refused.values()) this.#journal.note(item, 'todo', `not copied: ${detail}`);
        some = rest;
      }
    }
  }

  /** Creates what is not there, changes what is different, and leaves the rest. @throws {ApiError} */
  async sync(wanted: Wanted): Promise<Resource> {
    return wanted.existing ? this.#change(wanted, wanted.existing) : this.#create(wanted);
  }

  async #create({ item, type, path, attributes, initial, relationships }: Wanted): Promise<Resource> {
    const all = { ...attributes, ...initial };
    const made = this.isDry
      ? { id: `${imagined}${++this.#imagined}`, type, attributes: all }
      : await this.#send(item, all, (some) => this.client.create(path, type, some, relationships));
    this.#journal.note(item, 'created');
    return made;
  }

  async #change({ item, type, changeAt, attributes, relationships = {} }: Wanted, there: Resource): Promise<Resource> {
    const different = Object.entries(attributes).filter(([name, value]) => !says(there.attributes[name], value));
    const moved = Object.entries(relationships).filter(
      ([name, one]) => !Array.isArray(one.data) && related(there, name) !== idOf(one),
    );
    const names = [...different, ...moved].map(([name]) => name);
    if (names.length === 0) {
      this.#journal.note(item, 'unchanged');
      return there;
    }
    const body = (some: Attributes) => ({
      data: { type, id: there.id, attributes: some, relationships: Object.fromEntries(moved) },
    });
    const path = `${changeAt ?? `/${type}`}/${there.id}`;
    const changed = this.isDry
      ? there
      : await this.#send(item, Object.fromEntries(different), async (some) => {
          const { data } = await this.client.call('PATCH', path, body(some));
          return data;
        });
    this.#journal.note(item, 'changed', names.join(', '));
    return changed;
  }

  /** Adds to a list what it lacks; what more is there stays. */
  async add(item: string, path: string, type: string, present: string[], ids: string[]): Promise<void> {
    const missing = [...new Set(ids)].filter((id) => !present.includes(id));
    if (missing.length === 0) return;
    await this.call('POST', path, { data: missing.map((id) => ({ type, id })) });
    this.#journal.note(item, 'changed', `${missing.length} ${type} added`);
  }
}

const imagined = 'imagined-';
export const isImagined = ({ id }: Resource): boolean => id.startsWith(imagined);
