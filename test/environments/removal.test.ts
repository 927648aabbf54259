import { gunzipSync } from 'node:zlib';
import { expect, it, vi } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { uniqueName } from '#test/support/api.ts';
import { handlerOf } from '#test/support/handlers.ts';
import { startEnvironments } from './support.ts';

/** The deletion of an organization includes its templates and environments, and those that were deleted before. */

const world = await startEnvironments();
const { api } = world;

/** The history of runs, configurations and states, the reserved name, and the audit trail. */
const keeps = /^(RUN|CV|SV)(#|$)|^ORG(NAME)?$/;

const leftOf = async (part: string) =>
  api.aws
    .items()
    .filter(({ pk, sk }) => !String(pk).startsWith('AUDIT#') && !keeps.test(String(sk)))
    .filter((item) => JSON.stringify(item, (_, value) => (value instanceof Set ? [...value] : value)).includes(part))
    .map(({ pk, sk }) => `${pk} ${sk}`);

/** Runs the sweep, and the function that it starts for environments. */
const settle = async (fails = 0): Promise<void> => {
  const { handler: sweep } = await import('#lifecycle/repair/sweep.ts');
  const began = Date.now();
  api.aws.executionStatus = () => 'ABORTED';
  for (const hours of [1, 2, 24 * 8, 24 * 8 + 1, 24 * 8 + 2]) {
    vi.useFakeTimers({ toFake: ['Date'], now: began + hours * 3_600_000 });
    await sweep();
    for (const { name, event } of api.aws.invoked.splice(0)) {
      if (name !== 'EnvironmentSweepFunction') continue;
      if (hours === 1) api.aws.failCall(fails, 'after');
      await (await handlerOf('EnvironmentSweep'))(event as never, {} as never);
      api.aws.failCall(0, 'after');
    }
  }
  vi.useRealTimers();
};

const push = async (organization: string, name: string) => {
  const body = gunzipSync(await packFiles({ 'main.tf': `# ${name}` })).toString('latin1');
  const file = await world.call('POST', '/files', { body, headers: { 'content-type': 'application/x-tar' } });
  const version = await world.call('POST', `/organizations/${organization}/templateversions`, {
    body: { name, file_id: file.body.hash },
  });
  expect(version.status).toBe(201);
  return version.body.id;
};

const fill = async () => {
  const organization = uniqueName('gone');
  await api.post('organizations', { name: organization, email: 'a@b.test' });
  const { getOrganization } = await import('#resources/organizations/records.ts');
  const place = { organization, projectId: (await getOrganization(organization))?.defaultProjectId ?? '' };
  await push(organization, uniqueName('loose'));
  const [template, old] = [await world.addTemplate(place), await world.addTemplate(place)];
  await world.running(template, { name: uniqueName('lives') });
  const ended = await world.running(template, { name: uniqueName('ended') });
  await world.built(ended, 'delete');
  expect((await world.call('DELETE', `/templates/${old.id}`)).status).toBe(200);
  return { organization, templates: [template, old] };
};

it.each([0, 5, 20, 40])(
  'a deleted organization leaves no templates and environments, if removal stops after %i calls',
  async (calls) => {
    const { organization, templates } = await fill();
    const ids = [organization, ...templates.map(({ id }) => id)];
    for (const id of ids) expect((await leftOf(id)).length).toBeGreaterThan(0);
    expect((await api.call('DELETE', `organizations/${organization}`)).status).toBe(204);
    await settle(calls);
    for (const id of ids) expect(await leftOf(id)).toEqual([]);
  },
);

it('an archive that another organization uses stays readable there', async () => {
  const { organization } = await fill();
  const name = uniqueName('shared');
  await push(organization, name);
  const version = await push('acme', name);
  await api.call('DELETE', `organizations/${organization}`);
  await settle();
  const { job } = (await world.call('GET', `/templateversions/${version}`)).body;
  expect((await world.call('GET', `/files/${job.file_id}`)).status).toBe(200);
});
