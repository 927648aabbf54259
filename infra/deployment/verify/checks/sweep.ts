import { type Check, expect, seconds, until, within } from '../check.ts';

/** Two minutes are documented; the time of the requests adds to them. */
const maximum = 150;

export const sweep: Check = {
  name: 'sweep',
  proves: 'The sweep runs every minute: it destroys a workspace whose time has come',
  documented: 'a destroy run starts within two minutes of a change of the setting (ephemeral workspaces)',
  part: 'canary',
  isSlow: true,
  async perform(platform) {
    const { client } = platform;
    const { workspace } = await platform.applied();
    const began = Date.now();
    await client.call('PATCH', `/workspaces/${workspace.id}`, {
      data: { type: 'workspaces', attributes: { 'auto-destroy-at': new Date().toISOString() } },
    });
    const runs = await until(
      'a destroy run',
      () => client.list(`/workspaces/${workspace.id}/runs`),
      (list) => list.some(({ attributes }) => attributes['is-destroy']),
      2 * maximum,
    );
    const took = (Date.now() - began) / 1000;
    const run = runs.find(({ attributes }) => attributes['is-destroy']);
    expect(run, 'there is no destroy run');
    await platform.ended(run, 'applied');
    return within(took, maximum, `destroy run after ${seconds(took)}, applied`, { seconds: took });
  },
};
