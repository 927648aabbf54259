import { type Resource, related } from '#clients/client/client.ts';
import { since } from '#clients/client/run-facts.ts';
import { ago } from '#clients/client/text/time.ts';
import { type Command, ofOrganization, ofWorkspace } from '../arguments.ts';
import { bold, dim, plain, yellow } from '../paint.ts';
import { withTeamNames } from '../people.ts';
import { program } from '../program.ts';
import { ofList, printList } from '../table.ts';
import { print, printJson } from '../terminal.ts';
import { lockWorkspace } from '../workspace-lock.ts';
import { findProject } from './projects.ts';
import { limitOf, sayIncomplete, statusOf } from './runs.ts';

const organizations: Command = {
  name: 'organizations list',
  about: 'List your organizations',
  options: ofList,
  run: async (call, { client }) => {
    const { data } = await client.some('/organizations', 10_000);
    return printList(call, {
      headings: ['name'],
      entries: data,
      row: ({ id }) => [id],
      json: { data },
      none: `No organizations yet. Create one on the web page: ${program} open`,
    });
  },
};

const natural = new Intl.Collator('en', { numeric: true });

/** By whom, since when and why; empty unless a person or a team holds the lock. */
export const lockText = (workspace: Resource<'workspaces'>, included: Resource[]): string => {
  const { 'locked-at': at, 'locked-reason': reason } = workspace.attributes;
  const holder = included.find(({ id }) => id === related(workspace, 'locked-by'));
  if (!at || !related(workspace, 'locked-by')?.startsWith('user-')) return '';
  const by = holder ? ` by ${plain(String(holder.attributes.username))}` : '';
  return `locked${by} ${ago(at, Date.now())}${reason ? `: ${plain(reason)}` : ''}`;
};

const row = (workspace: Resource<'workspaces'>, included: Resource[]): string[] => {
  const { name, 'resource-count': resources } = workspace.attributes;
  const run = included.find(({ id }) => id === related(workspace, 'current-run')) as Resource<'runs'> | undefined;
  return [
    bold(name),
    run ? statusOf(run) : dim('no runs yet'),
    run ? dim(ago(since(run), Date.now())) : '',
    `${resources} ${resources === 1 ? 'resource' : 'resources'}`,
    yellow(lockText(workspace, included)),
  ];
};

const values = (workspace: Resource<'workspaces'>, included: Resource[]): string[] => {
  const { name, locked, 'resource-count': resources } = workspace.attributes;
  const run = included.find(({ id }) => id === related(workspace, 'current-run'));
  return [name, run?.attributes.status ?? '', run ? since(run) : '', String(resources), String(locked)];
};

const list: Command = {
  name: 'workspaces list',
  about: 'List the workspaces of an organization with their current runs',
  options: {
    ...ofOrganization,
    ...ofList,
    search: { about: 'filter by name', value: 'text' },
    managed: { about: 'include workspaces of environments and templates' },
    limit: { about: 'maximum number (default: all)', value: 'n', short: 'n' },
  },
  run: async (call, session) => {
    const organization = await session.organization();
    const search = call.text('search');
    const managed = call.flag('managed') ? '' : '&filter[managed]=false';
    const filter = `${search ? `&search[name]=${encodeURIComponent(search)}` : ''}${managed}`;
    const listed = await session.client.some(
      `/organizations/${encodeURIComponent(organization)}/workspaces?include=current_run,locked_by${filter}`,
      limitOf(call.text('limit') ?? '10000'),
    );
    const { data, included, more } = listed;
    const named = call.flag('json') ? included : await withTeamNames(session.client, included);
    printList(call, {
      headings: ['name', 'status', 'since', 'resources', 'locked'],
      // node-9 before node-10, as on the page.
      entries: data.toSorted((a, b) => natural.compare(a.attributes.name, b.attributes.name)),
      row: (workspace) => row(workspace, named),
      values: (workspace) => values(workspace, named),
      json: { data, included, meta: { more } },
      none: `No workspaces found in ${organization}. Create one: ${program} workspaces create <name>`,
    });
    sayIncomplete(listed, 'workspaces');
  },
};

const create: Command = {
  name: 'workspaces create',
  about: 'Create a workspace',
  takes: '<name>',
  options: {
    ...ofOrganization,
    'auto-apply': { about: 'apply runs without confirmation' },
    'terraform-version': { about: 'e.g. 1.11.4, or "~> 1.11"', value: 'version' },
    'working-directory': { about: 'folder in the configuration where Terraform runs', value: 'path' },
    description: { about: 'description of the workspace', value: 'text' },
    project: { about: 'project, by name or id (default: the default project)', value: 'name' },
  },
  run: async (call, session) => {
    const organization = await session.organization();
    const named = call.text('project');
    const project = named === undefined ? undefined : await findProject(session, named);
    const settings = {
      'auto-apply': call.flag('auto-apply') || undefined,
      'terraform-version': call.text('terraform-version'),
      'working-directory': call.text('working-directory'),
      description: call.text('description'),
    };
    const workspace = await session.client.createWorkspace(organization, call.required(0), settings, project?.id);
    if (call.flag('json')) return printJson({ data: workspace });
    const { name } = workspace.attributes;
    print(`Workspace ${organization}/${name} created. Start a run: ${program} runs start <folder> --workspace ${name}`);
  },
};

const lock: Command = {
  name: 'lock',
  about: 'Lock a workspace so that no runs start',
  options: { ...ofWorkspace, reason: { about: 'reason, shown to others', value: 'text' } },
  run: async (call, session) => {
    const { id, attributes } = await session.workspace();
    const data = await lockWorkspace(session.client, id, call.text('reason') ?? '');
    if (call.flag('json')) return printJson({ data });
    print(`Workspace ${plain(attributes.name)} locked. New runs wait until it is unlocked.`);
  },
};

const unlock: Command = {
  name: 'unlock',
  about: 'Unlock a workspace',
  options: {
    ...ofWorkspace,
    force: { about: 'unlock even if another user or an errored apply holds the lock' },
  },
  run: async (call, session) => {
    const { id, attributes } = await session.workspace();
    const action = call.flag('force') ? 'force-unlock' : 'unlock';
    const { data } = await session.client.call('POST', `/workspaces/${id}/actions/${action}`, {});
    if (call.flag('json')) return printJson({ data });
    print(`Workspace ${plain(attributes.name)} unlocked.`);
  },
};

export const workspaceCommands: Command[] = [organizations, list, create, lock, unlock];
