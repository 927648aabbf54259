import { describe, expect, it } from 'vitest';
import { slowState } from './support/slow-state.ts';
import { type Resource, until } from './support/waiting.ts';
import {
  client,
  newWorkspace,
  organization,
  platform,
  readLog,
  resources,
  startRun,
  untilConfirmable,
  untilFinal,
  untilStatus,
  untilUnlocked,
} from './support/world.ts';

const statusesOf = (at: Record<string, string>) =>
  Object.entries(at)
    .sort(([, a], [, b]) => a.localeCompare(b))
    .map(([key]) => key);

/** Actions on a run in the audit trail. */
const deedsOn = async ({ id, attributes }: Resource): Promise<string[]> => {
  type Event = { resource: { id: string; action: string } };
  // Other files create their own organizations on this platform. The first page, from just before the run, has all
  // events, regardless of other tests.
  const since = new Date(Date.parse(attributes['created-at']) - 1000).toISOString();
  const query = `sort=-timestamp&filter[organization][name]=${organization}&since=${since}`;
  const { data } = await client.call<Event[]>('GET', `/organization/audit-trail?${query}`);
  data.reverse();
  return data.filter(({ resource }) => resource.id === id).map(({ resource }) => resource.action);
};

describe('a run', () => {
  it('waits for confirmation, applies, and leaves state and outputs', { tags: ['elsewhere'] }, async () => {
    const workspace = await newWorkspace();
    await client.setVariable(workspace.id, { key: 'word', value: 'hidden-word', sensitive: true });
    const run = await startRun(workspace, {
      'main.tf': `variable "word" { sensitive = true }
${resources(['a', 'b'])}
output "names" { value = [terraform_data.a.output, terraform_data.b.output] }
output "word" {
  value     = var.word
  sensitive = true
}
output "long" { value = [for n in range(1000) : "\${n} ${'long '.repeat(30)}"] }`,
    });
    const planned = await untilConfirmable(run);
    expect(planned.attributes).toMatchObject({ status: 'planned', 'has-changes': true });
    expect((await client.phase(planned, 'plan')).attributes).toMatchObject({
      status: 'finished',
      'resource-additions': 2,
    });

    // Large enough to be stored compressed, too.
    const redacted = async (encoding: string) => {
      const headers = { authorization: `Bearer ${platform.token}`, 'accept-encoding': encoding };
      const answer = await fetch(`${platform.url}/api/v2/runs/${run.id}/plan/json-output-redacted`, { headers });
      return { encoding: answer.headers.get('content-encoding'), plan: await answer.json() };
    };
    const compressed = await redacted('gzip');
    expect(compressed.plan.output_changes.long.after).toHaveLength(1000);
    expect(compressed.encoding).toBe('gzip');
    expect(await redacted('identity')).toEqual({ encoding: null, plan: compressed.plan });

    await client.act(run.id, 'apply', 'go');
    const applied = await untilFinal(run);
    expect(applied.attributes.status).toBe('applied');
    const deeds = await until(
      () => deedsOn(run),
      (output) => output.includes('applied'),
    );
    expect(deeds).toEqual(['create', 'apply', 'applying', 'applied']);
    expect(statusesOf(applied.attributes['status-timestamps'])).toEqual([
      'plan-queueable-at',
      'plan-queued-at',
      'planning-at',
      'planned-at',
      'confirmed-at',
      'apply-queued-at',
      'applying-at',
      'applied-at',
    ]);
    expect((await client.phase(applied, 'apply')).attributes).toMatchObject({
      status: 'finished',
      'resource-additions': 2,
    });
    expect(await readLog(applied, 'plan')).toContain('2 to add');
    expect(await readLog(applied, 'apply')).toContain('Apply complete!');

    const outputs = await client.list(`/workspaces/${workspace.id}/current-state-version-outputs`);
    const byName = Object.fromEntries(outputs.map(({ id, attributes }) => [attributes.name, { id, ...attributes }]));
    expect(byName.names).toMatchObject({ value: ['a', 'b'], sensitive: false, type: 'array' });
    expect(byName.word).toMatchObject({ value: null, sensitive: true });
    expect((await client.get(`/state-version-outputs/${byName.word?.id}`)).attributes.value).toBe('hidden-word');
    const state = await client.get(`/workspaces/${workspace.id}/current-state-version`);
    expect(state.attributes).toMatchObject({ status: 'finalized', serial: expect.any(Number) });
    await untilUnlocked(workspace);
  });

  it('with auto-apply needs no confirmation; without changes it is planned and finished', {
    tags: ['elsewhere'],
  }, async () => {
    const workspace = await newWorkspace();
    const files = { 'main.tf': resources(['a']) };
    expect((await untilFinal(await startRun(workspace, files, { 'auto-apply': true }))).attributes.status).toBe(
      'applied',
    );
    const again = await untilFinal(await startRun(workspace, files, { 'auto-apply': true }));
    expect(again.attributes).toMatchObject({ status: 'planned_and_finished', 'has-changes': false });
    expect((await client.phase(again, 'apply')).attributes.status).toBe('unreachable');
  });

  it('whose plan fails reports the reason in one line and releases the workspace', {
    tags: ['elsewhere'],
  }, async () => {
    const workspace = await newWorkspace();
    const run = await untilFinal(
      await startRun(workspace, { 'main.tf': 'output "x" { value = terraform_data.missing.id }' }),
    );
    expect(run.attributes.status).toBe('errored');
    expect((await client.phase(run, 'plan')).attributes.status).toBe('errored');
    expect((await client.phase(run, 'apply')).attributes.status).toBe('unreachable');
    expect(await readLog(run, 'plan')).toContain('Reference to undeclared resource');
    await untilUnlocked(workspace);
  });

  it('that is canceled while it applies is interrupted, and its state kept', { tags: ['elsewhere'] }, async () => {
    const workspace = await newWorkspace({ 'auto-apply': true });
    const slow = `${resources(['quick'])}
resource "terraform_data" "slow" {
  depends_on = [terraform_data.quick]
  provisioner "local-exec" {
    command = "sleep 600"
  }
}`;
    const run = await startRun(workspace, { 'main.tf': slow });
    await untilStatus(run, 'applying');
    await client.waitForRun(run.id, () => true);
    await client.act(run.id, 'cancel', 'changed my mind');
    const canceled = await untilFinal(run);
    expect(canceled.attributes.status).toBe('canceled');
    expect((await client.phase(canceled, 'apply')).attributes.status).toBe('canceled');
    await untilUnlocked(workspace);
  });

  it('that is canceled during the plan ends immediately', async () => {
    const slow = await slowState();
    try {
      const run = await startRun(await newWorkspace(), { 'main.tf': slow.configuration });
      await slow.asked;
      await client.act(run.id, 'cancel');
      const canceled = await untilFinal(run);
      expect(canceled.attributes.status).toBe('canceled');
      expect((await client.phase(canceled, 'plan')).attributes.status).toBe('canceled');
      await expect(client.act(run.id, 'cancel')).rejects.toMatchObject({ status: 409 });
    } finally {
      await slow.close();
    }
  });
});
