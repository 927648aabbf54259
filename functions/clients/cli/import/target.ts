import { ApiError, type Client, type Resource, related } from '#clients/client/client.ts';
import type { Journal } from './journal.ts';

/** The platform to import into. A dry run writes nothing: resources that it would create get a placeholder id. */

type Attributes = Record<string, unknown>;
export type Relationships = Record<string, { data: unknown }>;

export interface Wanted {
  /** `workspace network` */
  item: string;
  type: string;
  /** The target's resource of that name, if any. */
  existing: Resource | undefined;
  /** Path to create it at. */
  path: string;
  /** Path to change it at, without its id; absent: `/<type>`. */
  changeAt?: string;
  attributes: Attributes;
  /** Attributes for creation only. */
  initial?: Attributes;
  /** To-one relationships are compared by id; to-many ones are for creation only. */
  relationships?: Relationships;
}

const isNothing = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);

/** Whether a value equals the wanted one: only the wanted keys of an object count, and all empty values are equal. */
const matches = (value: unknown, wanted: unknown): boolean => {
  if (isNothing(wanted)) return isNothing(value);
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(value) && value.length === wanted.length && wanted.every((entry, i) => matches(value[i], entry))
    );
  }
  if (typeof wanted === 'object' && wanted !== null) {
    return Object.entries(wanted).every(([name, entry]) => matches((value as Attributes | null)?.[name], entry));
  }
  return value === wanted;
};

const idOf = (relationship: { data: unknown } | undefined): string | undefined =>
  (relationship?.data as { id?: string } | null | undefined)?.id;

/** Fields that the error points at, with the reason. */
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
  #placeholder = 0;

  constructor(client: Client, journal: Journal, isDry: boolean) {
    this.client = client;
    this.isDry = isDry;
    this.#journal = journal;
  }

  /** Empty for a resource that a dry run would create. */
  async all(path: string): Promise<Resource[]> {
    if (path.includes(placeholder)) return [];
    return (await this.client.some(path, 100_000)).data;
  }

  async call(method: string, path: string, body?: unknown): Promise<void> {
    if (!this.isDry) await this.client.call(method, path, body);
  }

  /**
   * Sends again without the fields that the target rejects by name, and records them: an unsupported setting must not keep
   * the others from being copied.
   * @throws {ApiError}
   */
  async #send(
    item: string,
    attributes: Attributes,
    send: (accepted: Attributes) => Promise<Resource>,
  ): Promise<Resource> {
    let accepted = attributes;
    for (let tries = 1; ; tries++) {
      try {
        return await send(accepted);
      } catch (error) {
        const refused = refusedFields(error);
        const remaining = Object.fromEntries(Object.entries(accepted).filter(([name]) => !refused.has(name)));
        if (tries === 5 || Object.keys(remaining).length === Object.keys(accepted).length) throw error;
        for (const detail of refused.values()) this.#journal.note(item, 'todo', `not copied: ${detail}`);
        accepted = remaining;
      }
    }
  }

  /** Creates the resource, or changes the attributes that differ. @throws {ApiError} */
  async sync(wanted: Wanted): Promise<Resource> {
    return wanted.existing ? this.#change(wanted, wanted.existing) : this.#create(wanted);
  }

  async #create({ item, type, path, attributes, initial, relationships }: Wanted): Promise<Resource> {
    const attributesOnce = { ...attributes, ...initial };
    const created = this.isDry
      ? { id: `${placeholder}${++this.#placeholder}`, type, attributes: attributesOnce }
      : await this.#send(item, attributesOnce, (changes) => this.client.create(path, type, changes, relationships));
    this.#journal.note(item, 'created');
    return created;
  }

  async #change(
    { item, type, changeAt, attributes, relationships = {} }: Wanted,
    existing: Resource,
  ): Promise<Resource> {
    const different = Object.entries(attributes).filter(([name, value]) => !matches(existing.attributes[name], value));
    const moved = Object.entries(relationships).filter(
      ([name, relationship]) => !Array.isArray(relationship.data) && related(existing, name) !== idOf(relationship),
    );
    const names = [...different, ...moved].map(([name]) => name);
    if (names.length === 0) {
      this.#journal.note(item, 'unchanged');
      return existing;
    }
    const body = (changes: Attributes) => ({
      data: { type, id: existing.id, attributes: changes, relationships: Object.fromEntries(moved) },
    });
    const path = `${changeAt ?? `/${type}`}/${existing.id}`;
    const changed = this.isDry
      ? existing
      : await this.#send(item, Object.fromEntries(different), async (changes) => {
          const { data } = await this.client.call('PATCH', path, body(changes));
          return data;
        });
    this.#journal.note(item, 'changed', names.join(', '));
    return changed;
  }

  /** Adds missing members to a relationship; removes none. */
  async add(item: string, path: string, type: string, present: string[], ids: string[]): Promise<void> {
    const missing = [...new Set(ids)].filter((id) => !present.includes(id));
    if (missing.length === 0) return;
    await this.call('POST', path, { data: missing.map((id) => ({ type, id })) });
    this.#journal.note(item, 'changed', `${type}: ${missing.length} added`);
  }
}

const placeholder = 'placeholder-';
export const isPlaceholder = ({ id }: Resource): boolean => id.startsWith(placeholder);
