import { expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { Client, isFinalRun } from '#test/e2e/support/waiting.ts';
import { type Person, Scene } from './support.ts';

/**
 * Without rooms, a run can read the platform's memory and other organizations' states. The operator of such a machine
 * restricts it to one organization. Mallory can create an organization, but start nothing in it.
 */

const common = { STEPFORM_ORGANIZATION_CREATORS: 'anyone', STEPFORM_TERRAFORM_USERS: 'none' };
const scene = await Scene.open({ ...common, STEPFORM_RUNS_OF: 'local' });
const mallory: Person = await scene.signIn();
const organization = await scene.organizationOf(mallory.token);

const files = { 'main.tf': 'resource "terraform_data" "a" {}' };

it('the platform starts only runs of the organization that the operator named', async () => {
  const { local } = scene.platform;
  expect(scene.platform.output).toContain('Only runs of organization local start here.');

  const theirs = new Client(local.url, mallory.token);
  const workspace = await scene.workspace(mallory.token, organization);
  const version = await theirs.upload(workspace.id, await packFiles(files));
  const refusal = { status: 409, message: expect.stringContaining(`STEPFORM_RUNS_OF), not of ${organization}`) };
  await expect(theirs.createRun(workspace.id, {}, version.id)).rejects.toMatchObject(refusal);
  await expect(theirs.createRun(workspace.id, { 'plan-only': true })).rejects.toMatchObject(refusal);
  const uploading = await scene.post(mallory.token, `workspaces/${workspace.id}/configuration-versions`, {});
  expect(uploading.status).toBe(409);
  expect(await scene.must(mallory.token, 'GET', `workspaces/${workspace.id}/runs`)).toEqual([]);

  const ours = new Client(local.url, scene.owner);
  const own = await scene.workspace(scene.owner, scene.organization);
  const { id } = await ours.createRun(
    own.id,
    { 'auto-apply': true },
    (await ours.upload(own.id, await packFiles(files))).id,
  );
  expect((await ours.waitForRun(id, isFinalRun)).attributes.status).toBe('applied');
});
