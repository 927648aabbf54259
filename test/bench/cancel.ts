import { packFiles } from '../../functions/cli/archive.ts';
import { Client, isFinalRun } from '../../functions/cli/client.ts';
import { slowState } from '../e2e/support/slow-state.ts';
import { type Figure, median, quantile, round, type Section } from './figures.ts';

const times = 5;
const slowApply = `resource "terraform_data" "slow" {
  provisioner "local-exec" {
    command = "sleep 900"
  }
}
`;

export const cancel: Section = {
  about: 'a run is canceled while Terraform plans, and while it applies',
  needsPlatform: true,
  async *measure(platform): AsyncGenerator<Figure> {
    if (!platform) return;
    const client = new Client(platform.url, platform.token);
    const seconds = async (name: string, status: string, configuration: string, ready?: Promise<void>) => {
      const workspace = await client.createWorkspace(platform.organization, name, { 'auto-apply': true });
      const version = await client.upload(workspace.id, await packFiles({ 'main.tf': configuration }));
      const run = await client.createRun(workspace.id, {}, version.id);
      await client.waitForRun(run.id, ({ attributes }) => attributes.status === status);
      await ready;
      const from = Date.now();
      await client.act(run.id, 'cancel');
      const ended = await client.waitForRun(run.id, isFinalRun);
      if (ended.attributes.status !== 'canceled') throw new Error(`${run.id} is ${ended.attributes.status}`);
      return (Date.parse(ended.attributes['status-timestamps']['canceled-at']) - from) / 1000;
    };
    const plans: number[] = [];
    const applies: number[] = [];
    for (let n = 0; n < times; n++) {
      const slow = await slowState();
      plans.push(await seconds(`plan-${n}`, 'planning', slow.configuration, slow.asked));
      await slow.close();
      applies.push(await seconds(`apply-${n}`, 'applying', slowApply));
    }
    yield { name: `in its plan to canceled, median of ${times}`, value: round(median(plans), 1), unit: 's' };
    yield { name: 'longest', value: round(quantile(plans, 1), 1), unit: 's' };
    yield { name: `in its apply to canceled, median of ${times}`, value: round(median(applies), 1), unit: 's' };
    yield { name: 'longest', value: round(quantile(applies, 1), 1), unit: 's' };
  },
};
