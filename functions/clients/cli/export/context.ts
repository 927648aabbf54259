import { type MovingTable, namesFor } from '#api/moving.ts';
import type { Client, Resource } from '#clients/client/client.ts';
import type { Configuration } from './configuration.ts';
import type { Body, Reference } from './hcl.ts';

/** Context shared by all parts of an export. */
export interface Export {
  client: Client;
  configuration: Configuration;
  organization: string;
  /** References to exported resources, by their id on the platform. */
  exported: Map<string, Reference>;
  /** Prints a note about something that cannot be exported. */
  note(text: string): void;
}

export const all = async ({ client }: Export, path: string): Promise<Resource[]> =>
  (await client.some(path, 100_000)).data;

/** @param path `/projects`; empty for the organization itself */
export const inOrganization = ({ organization }: Export, path: string): string =>
  `/organizations/${encodeURIComponent(organization)}${path}`;

/** `auto-apply` → `auto_apply`: arguments of the provider are named like attributes of the API. Drops empty values. */
export const args = (attributes: Record<string, unknown>, names: string | string[]): Body =>
  Object.fromEntries(
    (typeof names === 'string' ? names.trim().split(/\s+/) : names)
      .map((name) => [name.replaceAll('-', '_'), attributes[name] ?? undefined] as [string, Body[string]])
      .filter(([, value]) => value !== '' && !(Array.isArray(value) && value.length === 0)),
  );

/** The attributes that are copied as they are. */
export const copiedFrom = (attributes: Record<string, unknown>, table: MovingTable): Body =>
  args(attributes, namesFor(table, 'export', 'copied'));

const isUnset = (value: unknown, unless: unknown): boolean =>
  value === undefined || value === null || value === unless || (Array.isArray(value) && value.length === 0);

/** Notes the attributes that the tfe provider has no argument for. */
export const noteLeft = ({ note }: Export, item: string, attributes: Record<string, unknown>, table: MovingTable) => {
  for (const name of namesFor(table, 'export', 'left')) {
    const value = attributes[name];
    if (isUnset(value, table[name]?.unless)) continue;
    note(`${item}: ${name} ${JSON.stringify(value)} is not exported, because the tfe provider has no argument for it`);
  }
};

/** References to those of the resources that were exported. */
export const references = ({ exported }: Export, ids: string[]): Reference[] =>
  ids.flatMap((id) => exported.get(id) ?? []);

export const tagsOf = async (work: Export, path: string): Promise<Record<string, string> | undefined> => {
  const bindings = await all(work, `${path}/tag-bindings`);
  if (bindings.length === 0) return undefined;
  return Object.fromEntries(bindings.map(({ attributes: { key, value } }) => [String(key), String(value ?? '')]));
};
