import { expect, it } from 'vitest';
import { client, newWorkspace, planJson, startRun, untilFinal } from '#test/e2e/support/world.ts';
import { letPlanCodeRun, planCode } from './plan-code.ts';

it('a daemon that the plan started cannot change the JSON plan', async () => {
  const workspace = await newWorkspace({ 'auto-apply': true });
  await letPlanCodeRun(workspace);
  // Runs after the runner has written the file and before it uploads it.
  const forged = JSON.stringify({ format_version: '1.2', applyable: true, resource_changes: [], forged: true });
  const daemon = `echo '${forged}' > "$TMPDIR/forged.json"
until [ -e ../plan.tfplan ] || [ -e ../out/plan.tfplan ] || [ -e ../kept/plan.tfplan ]; do sleep 0.01; done
n=0
until [ -s ../plan.json ] || [ -s ../own/plan.json ] || [ $n -gt 1000000 ]; do n=$((n + 1)); done
kill -STOP $runner
sleep 0.5
for file in ../plan.json ../own/plan.json; do cat "$TMPDIR/forged.json" > $file; done
kill -CONT $runner
`;
  const main = 'resource "terraform_data" "judged" {\n  input = "x"\n}\n';
  const run = await startRun(workspace, { 'main.tf': main, ...planCode(daemon) });
  const final = await untilFinal(run);
  const json = await planJson(run);
  expect(json.forged).toBeUndefined();
  expect(json.resource_changes.map(({ address }: { address: string }) => address)).toEqual(['terraform_data.judged']);
  expect(final.attributes.status).toBe('applied');
  expect((await client.phase(final, 'plan')).attributes['resource-additions']).toBe(1);
});
