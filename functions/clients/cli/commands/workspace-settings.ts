import { ApiError, type Resource, related } from '#clients/client/client.ts';
import { type Call, type Command, ofWorkspace } from '../arguments.ts';
import { confirmByName } from '../confirm.ts';
import { CommandError, exit, wrongUsage } from '../exit.ts';
import { plain } from '../paint.ts';
import { program } from '../program.ts';
import { ofList, printList } from '../table.ts';
import { print, printJson } from '../terminal.ts';
import { findAgentPool, findProject } from './projects.ts';

const settings = [
  'name',
  'description',
  'terraform-version',
  'working-directory',
  'execution-mode',
  'auto-apply',
  'structured-run-output-enabled',
  'apply-before-merge-enabled',
  'apply-before-merge-requirements',
] as const;

const switchWords = ['on', 'off'] as const;
const requirements = ['approved', 'mergeable'];

/** @throws {CommandError} */
const requirementsOf = (call: Call): string[] | undefined => {
  const text = call.text('apply-requires');
  if (text === undefined) return undefined;
  const words = text === 'none' ? [] : text.split(',').map((word) => word.trim());
  if (words.every((word) => requirements.includes(word))) return words;
  throw wrongUsage(`--apply-requires ${text}: give none, or some of ${requirements.join(',')}`);
};

const switchOf = (call: Call, name: string): boolean | undefined => {
  const text = call.text(name);
  if (text === undefined) return undefined;
  if (text !== 'on' && text !== 'off') throw wrongUsage(`--${name} ${text}: give on or off`);
  return text === 'on';
};

const changesIn = (call: Call): Record<string, unknown> => {
  const settings: Record<string, unknown> = {
    name: call.text('name'),
    description: call.text('description'),
    'terraform-version': call.text('terraform-version'),
    'working-directory': call.text('working-directory'),
    'execution-mode': call.text('execution-mode'),
    'auto-apply': switchOf(call, 'auto-apply'),
    'structured-run-output-enabled': switchOf(call, 'structured-output'),
    'apply-before-merge-enabled': switchOf(call, 'apply-before-merge'),
    'apply-before-merge-requirements': requirementsOf(call),
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
};

const show = (call: Call, workspace: Resource<'workspaces'>): undefined =>
  printList(call, {
    headings: ['setting', 'value'],
    entries: [...settings],
    row: (name) => [name, plain(String(workspace.attributes[name] ?? ''))],
    json: { data: workspace },
    none: '',
  });

const set: Command = {
  name: 'workspaces settings',
  about: 'Show or change the settings of a workspace',
  options: {
    ...ofWorkspace,
    ...ofList,
    name: { about: 'new name', value: 'name' },
    description: { about: 'description of the workspace', value: 'text' },
    'auto-apply': { about: 'apply runs without confirmation', value: 'on|off', choices: switchWords },
    'apply-before-merge': {
      about: 'let pull request comments apply plans before the merge',
      value: 'on|off',
      choices: switchWords,
    },
    'apply-requires': { about: 'conditions of that: approved, mergeable, or none', value: 'words' },
    'terraform-version': { about: 'e.g. 1.11.4, or "~> 1.11"', value: 'version' },
    'working-directory': { about: 'folder in the configuration where Terraform runs', value: 'path' },
    'execution-mode': {
      about: 'where Terraform runs: remote, local or agent',
      value: 'mode',
      choices: ['remote', 'local', 'agent'],
    },
    'structured-output': {
      about: 'log applies as JSON lines, which the page displays',
      value: 'on|off',
      choices: switchWords,
    },
    'agent-pool': { about: 'agents that run Terraform, with execution mode agent', value: 'name' },
    project: { about: 'move it to this project', value: 'name' },
  },
  run: async (call, session) => {
    const workspace = await session.workspace();
    const attributes = changesIn(call);
    const pool = call.text('agent-pool');
    if (pool !== undefined) attributes['agent-pool-id'] = (await findAgentPool(session, pool)).id;
    const project = call.text('project');
    if (Object.keys(attributes).length === 0 && project === undefined) return show(call, workspace);
    const target = project === undefined ? undefined : await findProject(session, project);
    const relationships = target && { project: { data: { type: 'projects', id: target.id } } };
    if (attributes['execution-mode'] === 'agent' && pool === undefined && !related(workspace, 'agent-pool')) {
      throw wrongUsage('--execution-mode agent needs agents: give --agent-pool <name>');
    }
    const { data } = await session.client.call<Resource<'workspaces'>>('PATCH', `/workspaces/${workspace.id}`, {
      data: { type: 'workspaces', attributes, relationships },
    });
    return show(call, data);
  },
};

const remove: Command = {
  name: 'workspaces delete',
  about: 'Delete a workspace with its states, variables and runs',
  options: {
    ...ofWorkspace,
    force: { about: 'delete even if it still manages resources, which are not destroyed' },
    yes: { about: 'do not ask', short: 'y' },
  },
  run: async (call, session) => {
    const workspace = await session.workspace();
    const { name, 'resource-count': resources } = workspace.attributes;
    if (!call.flag('yes'))
      await confirmByName(`Delete workspace ${plain(name)} with its states, variables and runs?`, name);
    const path = `/workspaces/${workspace.id}`;
    try {
      if (call.flag('force')) await session.client.call('DELETE', path);
      else await session.client.call('POST', `${path}/actions/safe-delete`);
    } catch (error) {
      if (call.flag('force') || resources === 0) throw error;
      if (!(error instanceof ApiError) || error.status !== 409) throw error;
      throw new CommandError(
        `${error.errors[0]?.detail ?? ''} To destroy: ${program} runs start --latest --destroy --workspace ${name}. To delete anyway: --force`,
        exit.notNow,
      );
    }
    if (call.flag('json')) return printJson({ data: null });
    print(`Workspace ${plain(name)} deleted.`);
  },
};

export const workspaceSettingCommands: Command[] = [set, remove];
