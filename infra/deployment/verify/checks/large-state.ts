import { createHash } from 'node:crypto';
import { type Check, expect, ok } from '../check.ts';

/** Terraform stores input and output of terraform_data: twice 84 × 64 KiB. */
const main = `locals {
  block = join("", [for n in range(1024) : "${'0123456789abcdef'.repeat(4)}"])
}
resource "terraform_data" "large" {
  // Sensitive, so that logs do not contain it.
  input = sensitive([for n in range(84) : local.block])
}
`;

export const largeState: Check = {
  name: 'state of 10 MB',
  proves: 'A state of more than 10 MB is stored by a run and read back unchanged',
  documented: 'states up to 64 MiB',
  async perform(platform) {
    const { client } = platform;
    const workspace = await platform.newWorkspace('large', { 'auto-apply': true });
    const { run } = await platform.start(workspace, { 'main.tf': main });
    await platform.ended(run, 'applied');
    const { attributes } = await client.get(`/workspaces/${workspace.id}/current-state-version`);
    const url = new URL(attributes['hosted-state-download-url']);
    const path = `${url.pathname}${url.search}`.replace(/^.*\/api\/v2/, '');
    const bytes = Buffer.from(await (await client.content(path)).arrayBuffer());
    const megabytes = bytes.length / 1_000_000;
    expect(megabytes > 10, `the state has ${megabytes.toFixed(1)} MB`);
    const sum = createHash('sha256').update(bytes).digest('hex');
    expect(sum === attributes.sha256, `the state read back has checksum ${sum}, not ${attributes.sha256}`);
    return ok(`${megabytes.toFixed(1)} MB, same checksum`, { bytes: bytes.length });
  },
};
