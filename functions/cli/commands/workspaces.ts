import { type Resource, related } from '../../client/client.ts';
import { since } from '../../client/run-facts.ts';
import { ago } from '../../client/text/time.ts';
import { type Command, ofOrganization, ofWorkspace } from '../arguments.ts';
import { bold, dim, plain, yellow } from '../paint.ts';
import { program } from '../program.ts';
import { columns, print, printJson } from '../terminal.ts';
import { lockWorkspace } from '../workspace-lock.ts';
import { limitOf, statusOf } from './runs.ts';

const organizations: Command = {
  name: 'organizations list',
  about: 'The organizations you are in',
  run: async (call, { client }) => {
    const { data } = await client.some('/organizations', 1000);
    if (call.flag('json')) return printJson({ data });
    print(data.length ? data.map(({ id }) => id).join('\n') : `You are in none. Make one on the page: ${program} open`);
  },
};

const row = (workspace: Resource, runs: Resource[]): string[] => {
  const { name, locked, 'resource-count': resources } = workspace.attributes;
  const run = runs.find(({ id }) => id === related(workspace, 'current-run'));
  const byUser = locked && related(workspace, 'locked-by')?.startsWith('user-');
  return [
    bold(name),
    run ? statusOf(run) : dim('no runs yet'),
    run ? dim(ago(since(run), Date.now())) : '',
    `${resources} ${resources === 1 ? 'resource' : 'resources'}`,
    byUser ? yellow('locked') : '',
  ];
};

const list: Command = {
  name: 'workspaces list',
  about: 'Workspaces of an organization, with what they are at',
  options: {
    ...ofOrganization,
    search: { about: 'only those with this in their name', value: 'text' },
    limit: { about: 'at most so many, 100 unless said', value: 'n', short: 'n' },
  },
  run: async (call, session) => {
    const organization = await session.organization();
    const search = call.text('search');
    const filter = search ? `&search[name]=${encodeURIComponent(search)}` : '';
    const { data, included } = await session.client.some(
      `/organizations/${encodeURIComponent(organization)}/workspaces?include=current_run${filter}`,
      limitOf(call.text('limit') ?? '100'),
    );
    if (call.flag('json')) return printJson({ data, included });
    if (data.length === 0)
      return print(`There is no such workspace in ${organization}. Make one: ${program} workspaces create <name>`);
    print(columns(data.map((workspace) => row(workspace, included))).join('\n'));
  },
};

const create: Command = {
  name: 'workspaces create',
  about: 'A new workspace',
  takes: '<name>',
  options: {
    ...ofOrganization,
    'auto-apply': { about: 'its runs apply without asking' },
    'terraform-version': { about: 'e.g. 1.11.4, or "~> 1.11"', value: 'version' },
    'working-directory': { about: 'where in the configuration Terraform runs', value: 'path' },
    description: { about: 'what it is for', value: 'text' },
  },
  run: async (call, session) => {
    const organization = await session.organization();
    const workspace = await session.client.createWorkspace(organization, call.required(0), {
      'auto-apply': call.flag('auto-apply') || undefined,
      'terraform-version': call.text('terraform-version'),
      'working-directory': call.text('working-directory'),
      description: call.text('description'),
    });
    if (call.flag('json')) return printJson({ data: workspace });
    const { name } = workspace.attributes;
    print(
      `Workspace ${organization}/${name} is made. Start a run in it: ${program} runs start <folder> --workspace ${name}`,
    );
  },
};

const lock: Command = {
  name: 'lock',
  about: 'Keep runs of a workspace from starting',
  options: { ...ofWorkspace, reason: { about: 'others see it', value: 'text' } },
  run: async (call, session) => {
    const { id, attributes } = await session.workspace();
    const data = await lockWorkspace(session.client, id, call.text('reason') ?? '');
    if (call.flag('json')) return printJson({ data });
    print(`${plain(attributes.name)} is locked: new runs wait until you unlock it.`);
  },
};

const unlock: Command = {
  name: 'unlock',
  about: 'Let runs of a workspace start again',
  options: {
    ...ofWorkspace,
    force: { about: 'though somebody else has locked it, or an apply has left a state behind' },
  },
  run: async (call, session) => {
    const { id, attributes } = await session.workspace();
    const action = call.flag('force') ? 'force-unlock' : 'unlock';
    const { data } = await session.client.call('POST', `/workspaces/${id}/actions/${action}`, {});
    if (call.flag('json')) return printJson({ data });
    print(`${plain(attributes.name)} is unlocked.`);
  },
};

export const workspaceCommands: Command[] = [organizations, list, create, lock, unlock];
