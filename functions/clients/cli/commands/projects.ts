import type { Resource } from '#clients/client/client.ts';
import { type Call, type Command, ofOrganization, ofWorkspace } from '../arguments.ts';
import { confirmByName } from '../confirm.ts';
import { CommandError, exit } from '../exit.ts';
import { nearest } from '../nearest-word.ts';
import { bold, dim, plain } from '../paint.ts';
import { program } from '../program.ts';
import type { Session } from '../session.ts';
import { ofList, printList } from '../table.ts';
import { print, printJson } from '../terminal.ts';

type Kind = 'projects' | 'varsets' | 'agent-pools';

const maxListed = 10_000;

const words = {
  projects: ['project', 'projects', ''],
  varsets: ['variable set', 'variable-sets', ' with its variables'],
  'agent-pools': ['agent pool', 'agent-pools', ''],
} as const;

const listOf = async (session: Session, kind: Kind): Promise<Resource[]> =>
  (await session.client.some(`/organizations/${encodeURIComponent(await session.organization())}/${kind}`, maxListed))
    .data;

const lists = (kind: Kind, group: string): string =>
  kind === 'agent-pools' ? 'The web page lists them, under Agents.' : `List them: ${program} ${group} list`;

const find = async (session: Session, kind: Kind, name: string): Promise<Resource> => {
  const resources = await listOf(session, kind);
  const match = resources.find(({ id, attributes }) => attributes.name === name || id === name);
  if (match) return match;
  const similar = nearest(
    name,
    resources.map(({ attributes }) => attributes.name),
  );
  const [what, group] = words[kind];
  const hint = similar ? ` Did you mean ${similar}?` : '';
  throw new CommandError(
    `${what[0]?.toUpperCase()}${what.slice(1)} ${name} not found, or you don’t have access.${hint} ${lists(kind, group)}`,
    exit.notFound,
  );
};

/** Finds one by name or id. @throws {CommandError} when it does not exist */
export const findProject = (session: Session, name: string): Promise<Resource> => find(session, 'projects', name);

/** Finds one by name or id. @throws {CommandError} when it does not exist */
export const findVariableSet = (session: Session, name: string): Promise<Resource> => find(session, 'varsets', name);

/** Finds one by name or id. @throws {CommandError} when it does not exist */
export const findAgentPool = (session: Session, name: string): Promise<Resource> => find(session, 'agent-pools', name);

const commandsOf = (kind: Kind): Command[] => {
  const [what, group, contents] = words[kind];
  const list: Command = {
    name: `${group} list`,
    about: `List the ${what}s of an organization`,
    options: { ...ofOrganization, ...ofList },
    run: async (call, session) => {
      const data = await listOf(session, kind);
      return printList(call, {
        headings: ['name', 'id', 'description'],
        entries: data,
        row: (entry) => [bold(plain(entry.attributes.name)), dim(entry.id), plain(entry.attributes.description ?? '')],
        json: { data },
        none: `No ${what}s yet. Create one: ${program} ${group} create <name>`,
      });
    },
  };
  const create: Command = {
    name: `${group} create`,
    about: `Create a ${what}`,
    takes: '<name>',
    options: {
      ...ofOrganization,
      description: { about: `description of the ${what}`, value: 'text' },
      ...(kind === 'varsets' ? { global: { about: 'for all workspaces of the organization' } } : {}),
    },
    run: async (call, session) => {
      const attributes: Record<string, unknown> = { name: call.required(0), description: call.text('description') };
      if (call.flag('global')) attributes.global = true;
      const path = `/organizations/${encodeURIComponent(await session.organization())}/${kind}`;
      const data = await session.client.create(path, kind, attributes);
      if (call.flag('json')) return printJson({ data });
      print(`Created ${what} ${plain(data.attributes.name)} (${data.id}).`);
    },
  };
  const remove: Command = {
    name: `${group} delete`,
    about: `Delete a ${what}`,
    takes: '<name>',
    options: { ...ofOrganization, yes: { about: 'do not ask', short: 'y' } },
    run: async (call, session) => {
      const { id, attributes } = await find(session, kind, call.required(0));
      const { name } = attributes;
      if (!call.flag('yes')) await confirmByName(`Delete ${what} ${plain(name)}${contents}?`, name);
      await session.client.call('DELETE', `/${kind}/${id}`);
      if (call.flag('json')) return printJson({ data: null });
      print(`Deleted ${what} ${plain(name)}.`);
    },
  };
  return [list, create, remove];
};

const relate = async (call: Call, session: Session, method: 'POST' | 'DELETE'): Promise<Resource> => {
  const set = await find(session, 'varsets', call.required(0));
  const workspace = await session.workspace();
  await session.client.call(method, `/varsets/${set.id}/relationships/workspaces`, {
    data: [{ type: 'workspaces', id: workspace.id }],
  });
  return workspace;
};

const attaching = (verb: 'attach' | 'detach'): Command => ({
  name: `variable-sets ${verb}`,
  about: verb === 'attach' ? 'Use a variable set in a workspace' : 'Stop using a variable set in a workspace',
  takes: '<name>',
  options: ofWorkspace,
  run: async (call, session) => {
    const workspace = await relate(call, session, verb === 'attach' ? 'POST' : 'DELETE');
    if (call.flag('json')) return printJson({ data: workspace });
    const outcome = verb === 'attach' ? 'is used in' : 'is no longer used in';
    print(`Variable set ${plain(call.required(0))} ${outcome} ${plain(workspace.attributes.name)}.`);
  },
});

export const projectCommands: Command[] = [
  ...commandsOf('projects'),
  ...commandsOf('varsets'),
  attaching('attach'),
  attaching('detach'),
];
