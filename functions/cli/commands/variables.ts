import type { Resource } from '../../client/client.ts';
import { type Call, type Command, ofWorkspace } from '../arguments.ts';
import { CommandError, exit, wrongUsage } from '../exit.ts';
import { bold, dim, plain } from '../paint.ts';
import { program } from '../program.ts';
import type { Session } from '../session.ts';
import { columns, isAttended, print, printJson, readInput, readSecret } from '../terminal.ts';

const shown = ({ attributes }: Resource): string[] => {
  const { key, value, sensitive, category, hcl, description } = attributes;
  const kind = [category === 'env' ? 'environment' : '', hcl ? 'HCL' : ''].filter(Boolean).join(', ');
  return [
    bold(plain(key)),
    sensitive ? dim('(sensitive)') : plain(value).replaceAll('\n', '⏎'),
    dim([kind, plain(description ?? '')].filter(Boolean).join(' · ')),
  ];
};

const all = async (session: Session, workspaceId: string): Promise<Resource[]> =>
  (await session.client.some(`/workspaces/${workspaceId}/vars`, 10_000)).data;

const list: Command = {
  name: 'variables list',
  about: 'Variables of a workspace; values of sensitive ones are never shown',
  options: ofWorkspace,
  run: async (call, session) => {
    const data = await all(session, (await session.workspace()).id);
    if (call.flag('json')) return printJson({ data });
    print(
      data.length
        ? columns(data.map(shown)).join('\n')
        : `It has none. Set one: ${program} variables set <key> <value>`,
    );
  },
};

const valueFor = async (call: Call, sensitive: boolean): Promise<string> => {
  const typed = call.word(1);
  if (!sensitive) return typed ?? (await piped(call));
  if (typed === undefined) return readSecret(`Value of ${call.required(0)} (not shown): `);
  throw wrongUsage(
    `A sensitive value does not belong on the command line, where other processes and the shell’s history see it. Pipe it in: ${program} variables set ${call.required(0)} --sensitive < file; or leave it out, to type it`,
  );
};

const piped = async (call: Call): Promise<string> => {
  if (isAttended()) throw wrongUsage(`The value is missing: ${program} variables set ${call.required(0)} <value>`);
  return (await readInput()).toString('utf8').replace(/\r?\n$/, '');
};

const find = (variables: Resource[], call: Call): Resource | undefined => {
  const category = call.flag('env') ? 'env' : 'terraform';
  return variables.find(({ attributes }) => attributes.key === call.required(0) && attributes.category === category);
};

const set: Command = {
  name: 'variables set',
  about: 'Make a variable, or change its value',
  takes: '<key> [value]',
  options: {
    env: { about: 'an environment variable; else one of Terraform’s' },
    sensitive: { about: 'never shown again; the value comes from standard input' },
    hcl: { about: 'the value is an expression: a list, an object, …' },
    description: { about: 'what it is for', value: 'text' },
    ...ofWorkspace,
  },
  more: `Without a value, standard input is it. A sensitive one is typed unseen, or piped in:

  ${program} variables set region eu-central-1
  ${program} variables set zones '["a", "b"]' --hcl
  pass show db | ${program} variables set db_password --sensitive`,
  run: async (call, session) => {
    const { client } = session;
    const workspace = await session.workspace();
    const before = find(await all(session, workspace.id), call);
    const sensitive = call.flag('sensitive') || before?.attributes.sensitive === true;
    const attributes = {
      value: await valueFor(call, sensitive),
      sensitive: call.flag('sensitive') || undefined,
      hcl: call.flag('hcl') || undefined,
      description: call.text('description'),
    };
    const key = call.required(0);
    const category = call.flag('env') ? 'env' : 'terraform';
    const data = before
      ? (
          await client.call('PATCH', `/workspaces/${workspace.id}/vars/${before.id}`, {
            data: { type: 'vars', attributes },
          })
        ).data
      : await client.setVariable(workspace.id, { key, category, ...attributes });
    if (call.flag('json')) return printJson({ data });
    print(`${key} is ${before ? 'changed' : 'set'} in ${workspace.attributes.name}. Runs from now on use it.`);
  },
};

const remove: Command = {
  name: 'variables delete',
  about: 'Delete a variable',
  takes: '<key>',
  options: { env: { about: 'the environment variable of that name' }, ...ofWorkspace },
  run: async (call, session) => {
    const workspace = await session.workspace();
    const found = find(await all(session, workspace.id), call);
    if (!found) {
      const kind = call.flag('env') ? 'environment' : 'Terraform';
      throw new CommandError(
        `${workspace.attributes.name} has no ${kind} variable ${call.required(0)}. It has: ${program} variables list --workspace ${workspace.attributes.name}`,
        exit.notFound,
      );
    }
    await session.client.call('DELETE', `/workspaces/${workspace.id}/vars/${found.id}`);
    if (call.flag('json')) return printJson({ data: null });
    print(`${call.required(0)} is deleted from ${workspace.attributes.name}.`);
  },
};

export const variableCommands: Command[] = [list, set, remove];
