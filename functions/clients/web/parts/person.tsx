import { signal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { get } from '../session.ts';

/** Names of users, each requested once. */
const names = signal<Record<string, string>>({});
const requested = new Set<string>();
/** Users whose name is not loaded yet. */
const nameless = signal<ReadonlySet<string>>(new Set());

export const knowPeople = (resources: Resource[] = []): void => {
  const users = resources.filter(({ type, id }) => type === 'users' && !names.peek()[id]);
  if (users.length === 0) return;
  for (const { id } of users) requested.add(id);
  names.value = {
    ...names.peek(),
    ...Object.fromEntries(users.map(({ id, attributes }) => [id, attributes.username as string])),
  };
};

const ask = async (id: string): Promise<void> => {
  requested.add(id);
  try {
    knowPeople([await get(`/users/${id}`)]);
  } catch {
    // Show the id instead.
    nameless.value = new Set([...nameless.peek(), id]);
  }
};

export const Person = ({ id }: { id: string | undefined }) => {
  if (!id) return <>the platform</>;
  if (!requested.has(id)) ask(id);
  const name = names.value[id];
  if (name !== undefined) return <>{name}</>;
  return nameless.value.has(id) ? id : <span title={id}>…</span>;
};
