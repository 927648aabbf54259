import { beforeAll, describe, expect, it } from 'vitest';
import { coder, read, shortName, startSession, template } from './support/coder-session.ts';
import { sweep } from './support/environments.ts';

/** Pools of prebuilt environments, with the coder command line. */

const pooled = template
  .replace(
    'data.coder_parameter.region.name) = "eu"\n  }',
    'data.coder_parameter.region.name) = "eu"\n  }\n  prebuilds { instances = 1 }',
  )
  .replace('input = { size', 'input = { claim = data.coder_workspace.me.is_prebuild_claim, size');

const pool = shortName('pool');
let session: Awaited<ReturnType<typeof startSession>>;
beforeAll(async () => {
  if (coder) session = await startSession({ 'main.tf': pooled });
});

const ready = async () => {
  await sweep();
  return (await read('/workspaces?q=owner:prebuilds')).workspaces.filter(
    (one: { template_name: string; latest_build: { status: string } }) =>
      one.template_name === pool && one.latest_build.status === 'running',
  );
};

describe.skipIf(!coder)('a pool', () => {
  it('is filled, and gives an environment to a user who creates one', async () => {
    expect(pooled).toContain('prebuilds { instances = 1 }');
    await session.succeeds(['templates', 'push', pool, '-d', './demo', '-y']);
    await expect.poll(async () => (await ready()).length, { interval: 2000 }).toBe(1);
    const [prebuilt] = await ready();
    expect(prebuilt).toMatchObject({ is_prebuild: true, owner_name: 'prebuilds', autostart_schedule: null });
    const name = shortName('claimed');
    const before = Date.now();
    const created = await session.succeeds(['create', name, '--template', pool, '-y']);
    const ms = Date.now() - before;
    const claimed = await read(`/users/me/workspace/${name}`);
    expect(claimed).toMatchObject({ id: prebuilt.id, is_prebuild: false, latest_build: { build_number: 2 } });
    expect(created.text).toMatch(/terraform_data\.compute\[0\]: Modifications complete/);
    expect(created.text).not.toContain('terraform_data.home: Creation complete');
    const { created_at, completed_at } = claimed.latest_build.job;
    console.log(`claimed: build ${Date.parse(completed_at) - Date.parse(created_at)} ms, command ${ms} ms`);
    // The pool is refilled.
    await expect.poll(async () => (await ready()).length, { interval: 2000 }).toBe(1);
  });
});
