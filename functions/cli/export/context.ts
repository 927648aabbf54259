import type { Client, Resource } from '../../client/client.ts';
import type { Configuration } from './configuration.ts';
import type { Body, Reference } from './hcl.ts';

/** What every part of an export works with. Ids of the platform lead to what the configuration has for them. */
export interface Export {
  client: Client;
  configuration: Configuration;
  organization: string;
  /** Ids of what is in the configuration, by kind. */
  known: Map<string, Reference>;
  /** Tells what cannot be said in configuration. */
  note(text: string): void;
}

export const all = async ({ client }: Export, path: string): Promise<Resource[]> =>
  (await client.some(path, 100_000)).data;

export const inOrganization = ({ organization }: Export, path: string): string =>
  `/organizations/${encodeURIComponent(organization)}/${path}`;

/** `auto-apply` → `auto_apply`: arguments of the provider are called like attributes of the API; nothing is left out. */
export const args = (attributes: Record<string, unknown>, names: string): Body =>
  Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name.replaceAll('-', '_'), attributes[name] ?? undefined] as [string, Body[string]])
      .filter(([, value]) => value !== '' && !(Array.isArray(value) && value.length === 0)),
  );

export const idsIn = ({ relationships }: Resource, name: string): string[] => {
  const data = relationships?.[name]?.data;
  return Array.isArray(data) ? data.map(({ id }) => id) : [];
};

/** References to those that are in the configuration. */
export const references = ({ known }: Export, ids: string[]): Reference[] => ids.flatMap((id) => known.get(id) ?? []);

export const tagsOf = async (work: Export, path: string): Promise<Record<string, string> | undefined> => {
  const bindings = await all(work, `${path}/tag-bindings`);
  if (bindings.length === 0) return undefined;
  return Object.fromEntries(bindings.map(({ attributes: { key, value } }) => [String(key), String(value ?? '')]));
};
