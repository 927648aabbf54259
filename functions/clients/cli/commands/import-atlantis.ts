import { existsSync, readFileSync } from 'node:fs';
import { type Command, ofOrganization } from '../arguments.ts';
import { exit, wrongUsage } from '../exit.ts';
import { type AtlantisWorkspace, readAtlantis } from '../import/atlantis.ts';
import { type Entry, Journal, lineOf, summaryOf } from '../import/journal.ts';
import { Target } from '../import/target.ts';
import { program } from '../program.ts';
import { print, printJson, say } from '../terminal.ts';
import { findProject } from './projects.ts';
import { reach } from './repositories.ts';

export const importAtlantis: Command = {
  name: 'import-atlantis',
  about: 'Create workspaces from a repository’s atlantis.yaml',
  takes: '<owner/name>',
  options: {
    ...ofOrganization,
    file: { about: 'the file (default: atlantis.yaml in this folder)', value: 'file' },
    connection: { about: 'let the workspaces follow the repository through this connection', value: 'connection' },
    project: { about: 'project, by name or id (default: the default project)', value: 'name' },
    'dry-run': { about: 'list the changes without making them' },
  },
  more: `One workspace for each project: folder, version, paths that start runs, and apply requirements. Plans of pull requests are applied
before the merge, with the comment "stepform apply". You can repeat it: existing workspaces of the same name are updated, nothing is
deleted. Without --connection, the workspaces follow no repository yet: move the states first. Lines begin with + created,
~ changed, * to do by hand, ! failed.

  ${program} import-atlantis acme/infrastructure --dry-run
  ${program} import-atlantis acme/infrastructure --connection GitHub`,
  run: async (call, session) => {
    const repository = call.required(0);
    if (!/^[^/\s]+(\/[^/\s]+)+$/.test(repository))
      throw wrongUsage(`"${repository}": give the repository as owner/name`);
    const file = call.text('file') ?? 'atlantis.yaml';
    if (!existsSync(file)) throw wrongUsage(`${file} not found. Run the command in the repository, or give --file`);
    const { workspaces, byHand } = readAtlantis(readFileSync(file, 'utf8'), repository);
    const organization = await session.organization();
    const connection = call.text('connection');
    const by = connection === undefined ? undefined : await reach(session, connection);
    const named = call.text('project');
    const project = named === undefined ? undefined : await findProject(session, named);

    const journal = new Journal((entry: Entry) => {
      if (!call.flag('json') && entry.outcome !== 'unchanged') print(lineOf(entry));
    });
    const target = new Target(session.client, journal, call.flag('dry-run'));
    const path = `/organizations/${encodeURIComponent(organization)}/workspaces`;
    const present = await target.all(path);
    const copy = ({ name, attributes, branch }: AtlantisWorkspace) =>
      target.sync({
        ...{ item: `workspace ${name}`, type: 'workspaces', path },
        existing: present.find((one) => one.attributes.name === name),
        attributes: {
          ...{ name, ...attributes },
          ...(by ? { 'vcs-repo': { identifier: repository, branch: branch ?? '', ...by } } : {}),
        },
        relationships: project ? { project: { data: { type: 'projects', id: project.id } } } : {},
      });
    for (const workspace of workspaces) {
      const item = `workspace ${workspace.name}`;
      await journal.attempt(item, () => copy(workspace));
      for (const detail of workspace.byHand) journal.note(item, 'todo', detail);
    }
    for (const detail of byHand) journal.note(file, 'todo', detail);
    if (call.flag('json')) printJson({ data: journal.entries });
    else say(summaryOf(journal, target.isDry));
    return journal.count('failed') > 0 ? exit.failed : undefined;
  },
};
