import { signal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { teamOfAccount } from '#clients/client/team-accounts.ts';
import { get } from '../session.ts';

/** Names of users, each requested once. */
const names = signal<Record<string, string>>({});
const requested = new Set<string>();
/** Users whose name is not loaded yet. */
const nameless = signal<ReadonlySet<string>>(new Set());

export const knowPeople = (resources: Resource[] = []): void => {
  const users = resources.filter(({ type, id }) => type === 'users' && !names.peek()[id]);
  const found: Record<string, string> = {};
  for (const user of users) {
    const { id, attributes } = user;
    const team = teamOfAccount(user);
    if (!team) found[id] = attributes.username;
    else if (!requested.has(team)) void askTeam(id, team, attributes.username);
    requested.add(id).add(team || id);
  }
  if (Object.keys(found).length > 0) names.value = { ...names.peek(), ...found };
};

/** A team's token acts as an account with the team's id in its name. */
const askTeam = async (id: string, team: string, username: string): Promise<void> => {
  const name = await get<'teams'>(`/teams/${team}`).then(
    ({ attributes }) => `team ${attributes.name}`,
    // The team is deleted, or not visible.
    () => username,
  );
  names.value = { ...names.peek(), [id]: name };
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
