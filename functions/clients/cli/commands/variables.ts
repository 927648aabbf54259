import type { Resource } from '#clients/client/client.ts';
import { type Call, type Command, type Option, ofWorkspace } from '../arguments.ts';
import { CommandError, exit, wrongUsage } from '../exit.ts';
import { bold, dim, plain } from '../paint.ts';
import { program } from '../program.ts';
import type { Session } from '../session.ts';
import { ofList, printList } from '../table.ts';
import { isAttended, print, printJson, readInput, readSecret } from '../terminal.ts';
import { findVariableSet } from './projects.ts';

const cellsOf = ({ attributes }: Resource<'vars'>): string[] => {
  const { key, value, sensitive, category, hcl, description } = attributes;
  const kind = [category === 'env' ? 'environment' : '', hcl ? 'HCL' : ''].filter(Boolean).join(', ');
  return [
    bold(plain(key)),
    sensitive ? dim('(sensitive)') : plain(value ?? '').replaceAll('\n', '⏎'),
    dim([kind, plain(description ?? '')].filter(Boolean).join(' · ')),
  ];
};

/** A workspace or a variable set, by the options of the call. */
interface Owner {
  name: string;
  /** API path of its variables. */
  path: string;
  /** Option that selects it in another command. */
  option: string;
}

const ofOwner: Record<string, Option> = {
  ...ofWorkspace,
  set: { about: 'variable set, instead of a workspace', value: 'name' },
};

/** @throws {CommandError} */
const ownerOf = async (call: Call, session: Session): Promise<Owner> => {
  const named = call.text('set');
  if (named === undefined) {
    const { id, attributes } = await session.workspace();
    return { name: attributes.name, path: `/workspaces/${id}/vars`, option: `--workspace ${attributes.name}` };
  }
  if (call.text('workspace') !== undefined)
    throw wrongUsage('--set and --workspace cannot be combined. Give one of them.');
  const { id, attributes } = await findVariableSet(session, named);
  return { name: attributes.name, path: `/varsets/${id}/relationships/vars`, option: `--set ${attributes.name}` };
};

const variablesOf = async (session: Session, { path }: Owner): Promise<Resource[]> =>
  (await session.client.some(path, 10_000)).data;

const list: Command = {
  name: 'variables list',
  about: 'List the variables of a workspace or a variable set; sensitive values stay hidden',
  options: { ...ofOwner, ...ofList },
  run: async (call, session) => {
    const data = await variablesOf(session, await ownerOf(call, session));
    return printList(call, {
      headings: ['key', 'value', 'kind'],
      entries: data,
      row: cellsOf,
      values: ({ attributes: { key, value, category } }) => [key, value ?? '', category],
      json: { data },
      none: `No variables yet. Set one: ${program} variables set <key> <value>`,
    });
  },
};

const valueFor = async (call: Call, sensitive: boolean): Promise<string> => {
  const typed = call.word(1);
  if (!sensitive) return typed ?? (await piped(call));
  if (typed === undefined) return readSecret(`Value of ${call.required(0)} (not shown): `);
  throw wrongUsage(
    `Don’t give a sensitive value as an argument: other processes and the shell history can read it. Pipe it in: ${program} variables set ${call.required(0)} --sensitive < file; or omit it to type it`,
  );
};

/** No variable has such a name; `key=value` is how other programs write it. */
const checkKey = (call: Call): void => {
  const [, key, value = ''] = /^([^=]+)=(.*)$/s.exec(call.required(0)) ?? [];
  if (key === undefined) return;
  const shown = /^[\w.-]+$/.test(value) ? value : '<value>';
  throw wrongUsage(`Give key and value as two arguments: ${program} variables set ${key} ${shown}`);
};

const piped = async (call: Call): Promise<string> => {
  if (isAttended()) throw wrongUsage(`Missing argument <value>: ${program} variables set ${call.required(0)} <value>`);
  return (await readInput()).toString('utf8').replace(/\r?\n$/, '');
};

const find = (variables: Resource<'vars'>[], call: Call): Resource<'vars'> | undefined => {
  const category = call.flag('env') ? 'env' : 'terraform';
  return variables.find(({ attributes }) => attributes.key === call.required(0) && attributes.category === category);
};

const set: Command = {
  name: 'variables set',
  about: 'Create or change a variable',
  takes: '<key> [value]',
  options: {
    env: { about: 'set an environment variable, not a Terraform variable' },
    sensitive: { about: 'hide the value; it is read from standard input' },
    hcl: { about: 'parse the value as an HCL expression: a list, an object, …' },
    description: { about: 'description of the variable', value: 'text' },
    ...ofOwner,
  },
  more: `Without a value, reads standard input. Sensitive values are typed without echo, or piped in:

  ${program} variables set region eu-central-1
  ${program} variables set zones '["a", "b"]' --hcl
  pass show db | ${program} variables set db_password --sensitive`,
  run: async (call, session) => {
    checkKey(call);
    const { client } = session;
    const owner = await ownerOf(call, session);
    const existing = find(await variablesOf(session, owner), call);
    const sensitive = call.flag('sensitive') || existing?.attributes.sensitive === true;
    const attributes = {
      value: await valueFor(call, sensitive),
      sensitive: call.flag('sensitive') || undefined,
      hcl: call.flag('hcl') || undefined,
      description: call.text('description'),
    };
    const key = call.required(0);
    const category = call.flag('env') ? 'env' : 'terraform';
    const data = existing
      ? (await client.call('PATCH', `${owner.path}/${existing.id}`, { data: { type: 'vars', attributes } })).data
      : await client.create(owner.path, 'vars', { key, category, ...attributes });
    if (call.flag('json')) return printJson({ data });
    print(`Variable ${key} ${existing ? 'changed' : 'created'} in ${owner.name}. New runs use it.`);
  },
};

const remove: Command = {
  name: 'variables delete',
  about: 'Delete a variable',
  takes: '<key>',
  options: { env: { about: 'delete the environment variable of that name' }, ...ofOwner },
  run: async (call, session) => {
    const owner = await ownerOf(call, session);
    const variable = find(await variablesOf(session, owner), call);
    if (!variable) {
      const kind = call.flag('env') ? 'Environment' : 'Terraform';
      throw new CommandError(
        `${kind} variable ${call.required(0)} not found in ${owner.name}. List variables: ${program} variables list ${owner.option}`,
        exit.notFound,
      );
    }
    await session.client.call('DELETE', `${owner.path}/${variable.id}`);
    if (call.flag('json')) return printJson({ data: null });
    print(`Variable ${call.required(0)} deleted from ${owner.name}.`);
  },
};

export const variableCommands: Command[] = [list, set, remove];
