import { expect, it } from 'vitest';
import { newWorkspace, readLog, startRun, untilFinal } from '#test/e2e/support/world.ts';
import { letPlanCodeRun, planCode } from './plan-code.ts';

it("the runner applies the original plan although a daemon changed the plan's folder", async () => {
  const workspace = await newWorkspace({ 'auto-apply': true });
  await letPlanCodeRun(workspace);
  // From the end of the plan through the apply.
  const daemon = `until [ -e ../plan.tfplan ] || [ -e ../out/plan.tfplan ] || [ -e ../kept/plan.tfplan ]; do sleep 0.01; done
for n in $(seq 500); do
  echo 'echo "the script is changed"' > script.sh
  echo 'PATH=/nowhere' > "$HOME/.profile"
  sleep 0.01
done
`;
  const main = `resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = "sleep 1; sh script.sh"
  }
}
`;
  const files = { 'main.tf': main, 'script.sh': 'echo "the script is as uploaded"\n', ...planCode(daemon) };
  const run = await startRun(workspace, files);
  expect((await untilFinal(run)).attributes.status).toBe('applied');
  const log = await readLog(run, 'apply');
  expect(log).toContain('the script is as uploaded');
  expect(log).not.toContain('the script is changed');
});
