import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAtHand, newestClient } from '#test/hcp-clients/terraform.ts';
import { hasGo, withQueryProvider } from './drift-provider.ts';
import { newSharedFolder } from './shared-folder.ts';
import { cloud, Terraform } from './terraform.ts';
import { client, newWorkspace } from './world.ts';

/** Whether `terraform query` of the newest release can run here (`npm run clients` builds it). */
export const canQuery = isAtHand(newestClient) && hasGo;

/** The output of `terraform query` in a workspace, for a folder with the files one.txt and two.txt. */
export const queried = async () => {
  const folder = newSharedFolder('listed-');
  for (const name of ['one.txt', 'two.txt']) writeFileSync(join(folder, name), '');
  const workspace = await newWorkspace({ 'terraform-version': newestClient.version });
  await client.setVariable(workspace.id, { key: 'folder', value: folder });
  const here = new Terraform({ program: newestClient.path });
  await withQueryProvider(here.directory);
  here.write('cloud.tf', cloud(`name = "${workspace.attributes.name}"`));
  here.write('main.tf', 'variable "folder" {\n  type = string\n}\n');
  here.write(
    'all.tfquery.hcl',
    'list "listed_file" "all" {\n  provider = listed\n  config {\n    folder = var.folder\n  }\n}\n',
  );
  await here.succeed('init -input=false');
  return { workspace, text: await here.succeed('query') };
};
