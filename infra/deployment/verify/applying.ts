import type { Resource } from '#clients/client/client.ts';
import { expect, until } from './check.ts';
import type { Platform } from './platform.ts';

/** Ten minutes unless it is interrupted. */
const main = `resource "terraform_data" "quick" {}
resource "terraform_data" "slow" {
  depends_on = [terraform_data.quick]
  provisioner "local-exec" {
    command = "exec sleep 600"
  }
}
`;

/** A run in the middle of an apply. */
export const applying = async (platform: Platform, purpose: string) => {
  const { client } = platform;
  const workspace = await platform.newWorkspace(purpose, { 'auto-apply': true });
  const { run } = await platform.start(workspace, { 'main.tf': main });
  const read = () => client.get(`/workspaces/${workspace.id}/current-state-version`).catch(() => undefined);
  const isQuick = (version: Resource | undefined) =>
    version?.attributes.resources?.some(({ name }: { name: string }) => name === 'quick');
  const { attributes } = await platform.run(run, ({ attributes: { status } }) => status === 'applying');
  expect(attributes.status === 'applying', `${run.id} is ${attributes.status}. ${attributes['end-reason'] ?? ''}`);
  // The first snapshot of the state follows the first resource.
  await until('a state during the apply', read, (version) => version !== undefined, 60);
  return {
    workspace,
    run,
    /** @throws {Error} if the first resource is not in the workspace's state */
    inState: async () => {
      await until('the state with the first resource', read, (version) => isQuick(version) === true, 30);
    },
  };
};
