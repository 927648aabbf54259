import { beforeAll, expect, it } from 'vitest';
import { operate } from '#test/e2e/support/operator.ts';
import { newWorkspace, type Resource, resources, startRun, untilConfirmable } from '#test/e2e/support/world.ts';
import { type Change, planOf } from '#test/resources/costs/support.ts';
import { estimate } from './support/operator.ts';
import { platform, runPath, visit } from './support/reader.ts';

let workspace: Resource;
let run: Resource;
beforeAll(async () => {
  operate(platform);
  workspace = await newWorkspace();
  run = await untilConfirmable(await startRun(workspace, { 'main.tf': resources(['a']) }));
});
const path = () => runPath(workspace.attributes.name, run.id);

it('a run without an estimate does not mention one', async () => {
  const page = await visit(path());
  await page.getByRole('heading', { name: 'Plan' }).waitFor();
  expect(await page.getByRole('heading', { name: 'Cost estimate' }).count()).toBe(0);
});

it('an estimate shows the cost before and after, by resource', async () => {
  const volumes: Change[] = Array.from({ length: 60 }, (_, index) => ({
    type: 'aws_ebs_volume',
    index,
    after: { size: 10 + index },
  }));
  await estimate(
    run.id,
    planOf([
      { type: 'aws_nat_gateway', name: 'way_out', before: {}, after: {} },
      { type: 'aws_eks_cluster', name: '<b>bold</b>', after: {} },
      { type: 'aws_vpc', after: {} },
      { type: 'aws_redshift_cluster', name: 'unknown', after: {} },
      ...volumes,
    ]),
  );
  const page = await visit(path());
  const panel = page.locator('details', { has: page.getByRole('heading', { name: 'Cost estimate' }) });
  // 32.85 stays; 73 + 0.1 × (60 × 10 + 59 × 60 / 2) is new.
  await panel.getByText('$32.85').first().waitFor();
  await panel.getByText('$342.85').waitFor();
  await panel.getByText('+$310.00').waitFor();
  await panel.getByRole('heading', { name: 'Cost estimate' }).click();
  await panel.getByRole('row', { name: 'aws_eks_cluster.<b>bold</b> $0 $73.00 +$73.00' }).waitFor();
  expect(await panel.getByRole('row').count()).toBe(51);
  await panel.getByRole('button', { name: 'Show 12 more resources' }).click();
  await panel.getByRole('row', { name: 'aws_nat_gateway.way_out $32.85 $32.85 ±$0' }).waitFor();
  await panel.getByText('1 more resource at no charge.').waitFor();
  await panel.getByText('estimates do not support resources of type aws_redshift_cluster').waitFor();
  await panel.getByText(/Prices from AWS list prices of \d{4}-\d\d, in USD/).waitFor();
});

it('an estimate that failed shows the reason', async () => {
  await estimate(run.id, Buffer.from('no plan'));
  const page = await visit(path());
  const panel = page.locator('details', { has: page.getByRole('heading', { name: 'Cost estimate' }) });
  await panel.getByText('failed', { exact: true }).click();
  await panel.getByText('The JSON plan is not an object.').waitFor();
});
