import { expect, it } from 'vitest';
import { startEnvironments } from './support.ts';

const world = await startEnvironments();

const scrape = async (token = world.api.token): Promise<{ status: number; lines: string[] }> => {
  const { status, body } = await world.call('GET', '/metrics', { token });
  return { status, lines: String(body).split('\n') };
};

it('the metrics count finished builds since the first scrape, by result, and builds in progress', async () => {
  const template = await world.addTemplate();
  const uncounted = await world.running(template);
  expect((await scrape()).lines.filter((line) => line.startsWith('coderd_workspace_builds_total{'))).toEqual([]);
  const id = await world.running(template);
  await world.build(id, 'stop');
  await world.end(id, 'errored');
  await world.build(uncounted, 'stop');
  const { name } = await world.environmentOf(id);
  const { lines } = await scrape();
  const of = `organization_name="acme",workspace_owner="owner",workspace_name="${name}",template_name="${template.name}"`;
  expect(
    lines
      .filter((line) => line.includes(`workspace_name="${name}"`))
      .map((line) => line.replace(/template_version="[^"]*"/, '')),
  ).toEqual([
    `coderd_workspace_builds_total{${of},,workspace_transition="START",status="success"} 1`,
    `coderd_workspace_builds_total{${of},,workspace_transition="STOP",status="failed"} 1`,
  ]);
  expect(lines).toContain('coderd_provisionerd_jobs_current{organization_name="acme",provisioner="terraform"} 1');
  const success = 'organization_name="acme",provisioner="terraform",status="success"';
  expect(lines).toContain(`coderd_provisionerd_job_timings_seconds_count{${success}} 1`);
  expect(lines).toContain(`coderd_provisionerd_job_timings_seconds_bucket{${success},le="3600"} 1`);
  expect(lines).toContain('# TYPE coderd_provisionerd_job_timings_seconds histogram');
});

it('the metrics require access to the audit trail', async () => {
  const { token } = await world.members.withLevel('acme', 'admin');
  expect((await scrape(token)).status).toBe(403);
  expect((await scrape('')).status).toBe(401);
});

it('the start and end of each build are written as CloudWatch metrics, once', async () => {
  const template = await world.addTemplate();
  const from = world.emitted.length;
  const id = await world.running(template);
  await world.build(id, 'stop');
  const [stopped, again] = await Promise.all([world.end(id, 'errored'), world.end(id, 'errored')]);
  expect(again.completedAt, 'for readers at the same time').toBe(stopped.completedAt);
  // A repeated read counts nothing.
  await world.call('GET', `/workspacebuilds/${stopped.id}`);
  const lines = world.emitted.slice(from);
  const jobs = 'coderd_provisionerd_jobs_current';
  expect(lines.map((line) => line[jobs])).toEqual([1, -1, 1, -1]);
  const { name } = await world.environmentOf(id);
  expect(lines[3]).toMatchObject({
    organization_name: 'acme',
    provisioner: 'terraform',
    workspace_owner: 'owner',
    workspace_name: name,
    template_name: template.name,
    workspace_transition: 'STOP',
    status: 'failed',
    coderd_workspace_builds_total: 1,
    coderd_provisionerd_job_timings_seconds:
      (Date.parse(stopped.completedAt ?? '') - Date.parse(stopped.startedAt ?? '')) / 1000,
  });
  const metrics = lines[3]?._aws.CloudWatchMetrics ?? [];
  expect(metrics.map(({ Metrics: [metric] }) => metric?.Name)).toEqual([
    jobs,
    'coderd_workspace_builds_total',
    'coderd_provisionerd_job_timings_seconds',
  ]);
  // CloudWatch bills each combination of these, so environments must not be among them.
  expect(metrics.flatMap(({ Dimensions }) => Dimensions.flat())).not.toContain('workspace_name');
  for (const dimension of metrics.flatMap(({ Dimensions }) => Dimensions.flat())) {
    expect(lines[3]).toHaveProperty(dimension);
  }
});
