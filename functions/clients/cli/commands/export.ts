import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { count } from '#clients/client/text/time.ts';
import { type Command, ofOrganization } from '../arguments.ts';
import { CommandError } from '../exit.ts';
import { Configuration } from '../export/configuration.ts';
import type { Export } from '../export/context.ts';
import { exportOrganization, exportPolicies } from '../export/organization.ts';
import { exportWorkspaces } from '../export/workspaces.ts';
import { plain } from '../paint.ts';
import { program } from '../program.ts';
import { print, printJson, say } from '../terminal.ts';

/** Writes an organization as configuration for the `tfe` provider, so that Terraform can manage it, here or elsewhere. */

/** @throws {CommandError} when the folder is not empty */
const prepare = async (folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true });
  if ((await readdir(folder)).length === 0) return;
  throw new CommandError(`${folder} is not empty. Give a new folder: files there would be mixed with the export.`);
};

const begin = (configuration: Configuration, host: string, organization: string): void => {
  configuration.block('main.tf', {
    type: 'terraform',
    body: { required_version: '>= 1.5' },
    blocks: [{ type: 'required_providers', body: { tfe: { source: 'hashicorp/tfe', version: '>= 0.74' } } }],
  });
  configuration.block('main.tf', { type: 'provider', labels: ['tfe'], body: { hostname: host, organization } });
};

export const exportCommand: Command = {
  name: 'export',
  about: 'Write an organization as configuration for the tfe provider, with import blocks',
  takes: '<folder>',
  options: ofOrganization,
  more: `Writes default execution modes, projects, workspaces, variables, variable sets, teams and their access, run tasks, notifications
and policies. Sensitive values become variables without values (secrets.tf). Then, in the folder, with a token of the host:

  terraform init
  terraform plan -var-file=secrets.tfvars`,
  run: async (call, session) => {
    const folder = call.required(0);
    const { client } = session;
    const organization = await session.organization();
    await prepare(folder);
    const configuration = new Configuration();
    const notes: string[] = [];
    begin(configuration, session.address.host, organization);
    const work: Export = { client, configuration, organization, exported: new Map(), note: (text) => notes.push(text) };
    await exportOrganization(work);
    await exportWorkspaces(work);
    await exportPolicies(work);
    for (const [path, text] of configuration.files) {
      const file = join(folder, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text, { flag: 'wx' });
    }
    const { resources, secrets } = configuration.counts;
    const files = [...configuration.files.keys()];
    if (call.flag('json')) return printJson({ data: { folder, files, resources, secrets, notes } });
    for (const text of notes) print(`* ${plain(text)}`);
    say(
      `Wrote ${count(resources, 'resource')} and ${count(secrets, 'variable')} for secrets to ${folder}. Next: ${program} export --help`,
    );
  },
};
