import { gzipSync } from 'node:zlib';
import { memberHelpers } from '#test/support/members.ts';

/** Records that tests write into a run or an organization past the API, so that the page can show them. */

/** @returns the token of a new member whose team has that level on the workspaces of the default project */
export const newMember = async (organization: string, level: 'read' | 'plan' | 'write'): Promise<string> =>
  (await (await memberHelpers()).withLevel(organization, level)).token;

const put = async (runId: string, artifact: string, content: Buffer): Promise<void> => {
  const { putObject } = await import('#platform/store/bucket.ts');
  const { objects } = await import('#platform/store/keys.ts');
  await putObject(objects.artifact(runId, 'plan', artifact), new Uint8Array(content));
};

/** Gives a run the log and the plan of a large configuration: terraform would take minutes for it. */
export const enlarge = async (
  runId: string,
  { lines, resources, ending = [] }: { lines: number; resources: number; ending?: string[] },
): Promise<void> => {
  const text = Array.from(
    { length: lines },
    (_, i) => `\u001b[1mterraform_data.x (local-exec):\u001b[0m line ${i + 1} of a \u001b[32mlong\u001b[0m log`,
  );
  await put(runId, 'log', Buffer.concat([Buffer.of(2), Buffer.from([...text, ...ending].join('\n')), Buffer.of(3)]));
  const actions = [['create'], ['update'], ['delete'], ['delete', 'create'], ['no-op']];
  const changes = Array.from({ length: resources }, (_, i) => ({
    address: `module.network[${i % 40}].aws_subnet.private["zone-${i}"]`,
    mode: 'managed',
    type: 'aws_subnet',
    name: 'private',
    change: {
      actions: actions[i % actions.length],
      before: { cidr_block: `10.${i % 250}.0.0/16`, tags: { Name: `subnet-${i}`, team: 'network' }, ports: [80, 443] },
      after: { cidr_block: `10.${i % 250}.0.0/17`, tags: { Name: `subnet-${i}`, team: 'platform' }, ports: [443] },
    },
  }));
  const { updateRun } = await import('#resources/runs/records.ts');
  const plan = Buffer.from(JSON.stringify({ resource_changes: changes }));
  await put(runId, 'plan-json-redacted', plan);
  await put(runId, 'plan-json-redacted-gzip', gzipSync(plan));
  await updateRun(runId, { set: { 'plan.report.artifacts.plan-json-redacted-gzip': 'sha' } });
};

/** Gives a run a cost estimate of this plan: the test configurations have no resources with a price. */
export const estimate = async (runId: string, planJson: Buffer): Promise<void> => {
  const { newCostEstimate } = await import('#run/cost-estimate.ts');
  const { estimateCosts } = await import('#resources/costs/records.ts');
  const { updateRun } = await import('#resources/runs/records.ts');
  const { sha256Of } = await import('#platform/store/integrity.ts');
  const { shortened } = await import('#run/phase-report.ts');
  await put(runId, 'plan-json', planJson);
  const costEstimate = newCostEstimate({ targetAddrs: null }, new Date().toISOString());
  // The checksum in the runner's report.
  const checksum = shortened(sha256Of(planJson));
  const run = await updateRun(runId, { set: { costEstimate, 'plan.report.artifacts.plan-json': checksum } });
  if (run) await estimateCosts(run);
};

/** Gives a failed run an errored state, for which it holds the workspace. */
export const leaveState = async (runId: string, workspaceId: string, state: string): Promise<void> => {
  const { putObject } = await import('#platform/store/bucket.ts');
  const { keys, objects } = await import('#platform/store/keys.ts');
  const { update } = await import('#platform/store/table.ts');
  await putObject(objects.erroredState(workspaceId, runId), state);
  const unsaved = { runId, serial: 7, lineage: 'l' };
  await update(keys.run(runId), { set: { unsaved: { ...unsaved, stored: true } } });
  await update(keys.workspace(workspaceId), { set: { lock: { kind: 'run', runId, at: '', unsaved } } });
};

/** Replaces the output of an ended query, and marks it as finished. */
export const answerQuery = async (queryId: string, log: string): Promise<void> => {
  const { keys } = await import('#platform/store/keys.ts');
  const { update } = await import('#platform/store/table.ts');
  const runId = queryId.replace(/^query-/, 'run-');
  await put(runId, 'log', Buffer.concat([Buffer.of(2), Buffer.from(log), Buffer.of(3)]));
  await update(keys.run(runId), { set: { status: 'planned_and_finished' } });
};
