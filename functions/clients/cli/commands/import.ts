import type { Resource } from '#clients/client/client.ts';
import { findToken } from '../address.ts';
import type { Call, Command } from '../arguments.ts';
import { exit, wrongUsage } from '../exit.ts';
import type { Import } from '../import/context.ts';
import { type Entry, Journal, lineOf, summaryOf } from '../import/journal.ts';
import { needsOf } from '../import/needs.ts';
import { copyOrganization } from '../import/organization.ts';
import { copyPolicies } from '../import/policies.ts';
import { secretsFrom } from '../import/secrets.ts';
import { part, Source } from '../import/source.ts';
import { Target } from '../import/target.ts';
import { copyVariableSets } from '../import/variables.ts';
import { copyAccess, copyWorkspaces } from '../import/workspaces.ts';
import { program } from '../program.ts';
import type { Session } from '../session.ts';
import { print, printJson, say } from '../terminal.ts';

/** Copies an organization from any host with HCP Terraform's API. */

/** The token in the environment is for the target platform. */
const sourceOf = (session: Session, host: string): Source => {
  const address = session.at(host, '--from');
  return new Source(address.url, findToken(address, session.local).token);
};

const copyAll = async (work: Import): Promise<void> => {
  const { journal, source, from } = work;
  await copyOrganization(work);
  await journal.attempt('workspaces', () => copyWorkspaces(work));
  await journal.attempt('variable sets', () => copyVariableSets(work));
  await journal.attempt('policies', () => copyPolicies(work));
  await journal.attempt('access to projects', async () => {
    for (const project of await source.all(`/organizations/${from}/projects`)) {
      const copy = work.projects.get(project.id);
      if (copy) await copyAccess(work, 'project', project, copy);
    }
  });
};

const defaultMode = ({ attributes }: Resource): string => String(attributes['default-execution-mode'] ?? 'remote');

const begin = async (call: Call, session: Session): Promise<Import> => {
  const host = call.text('from');
  const from = call.text('organization');
  if (!host || !from) throw wrongUsage(`Give --from <host> and --organization <name>. See: ${program} import --help`);
  const source = sourceOf(session, host);
  const report = (entry: Entry) => {
    if (!call.flag('json') && entry.outcome !== 'unchanged') print(lineOf(entry));
  };
  const journal = new Journal(report);
  const into = part(call.text('into') ?? from);
  const target = new Target(session.client, journal, call.flag('dry-run'));
  if (session.address.url === session.at(host).url && into === part(from)) {
    throw wrongUsage('--from and the target are the same organization. Give another --host, or --into <organization>');
  }
  const here = defaultMode(await session.client.get(`/organizations/${into}`));
  const there = defaultMode(await source.get(`/organizations/${part(from)}`));
  if (here !== there)
    journal.note(
      'organization',
      'todo',
      `default execution mode ${there} at the source, ${here} here: change it if needed`,
    );
  const only = call.texts('workspace');
  return {
    ...{ source, target, journal, from: part(from), into, only },
    needs: await needsOf(source, part(from), only),
    secrets: await secretsFrom(call.text('secrets'), call.flag('ask')),
    ...{ projects: new Map(), pools: new Map(), teams: new Map(), tasks: new Map() },
    ...{ policies: new Map(), workspaces: new Map() },
  };
};

export const importCommand: Command = {
  name: 'import',
  about: 'Copy an organization from another host: HCP Terraform, Terraform Enterprise, stepform',
  options: {
    from: { about: 'host to copy from; sign in there first', value: 'host' },
    organization: { about: 'organization to copy', value: 'name', short: 'o' },
    into: { about: 'organization to copy into, which exists (default: the same name)', value: 'name' },
    workspace: {
      about: 'copy only this workspace and what it uses; repeatable',
      value: 'name',
      short: 'w',
      multiple: true,
    },
    'dry-run': { about: 'list the changes without making them' },
    secrets: { about: 'JSON file with sensitive values, by the item names that the import prints', value: 'file' },
    ask: { about: 'ask for sensitive values' },
  },
  more: `Copies projects, workspaces with settings, tags, variables and current states, variable sets, teams and their access, run
tasks, notifications (off) and policies. Existing items of the same name are updated, nothing is deleted. You
can repeat it. Lines begin with + created, ~ changed, * to do by hand, ! failed.

  ${program} login app.terraform.io
  ${program} import --from app.terraform.io --organization acme --dry-run
  ${program} import --from app.terraform.io --organization acme --secrets secrets.json`,
  run: async (call, session) => {
    const work = await begin(call, session);
    await copyAll(work);
    const { journal, target } = work;
    const failed = journal.count('failed') > 0;
    if (call.flag('json')) printJson({ data: journal.entries });
    else say(summaryOf(journal, target.isDry));
    return failed ? exit.failed : undefined;
  },
};
