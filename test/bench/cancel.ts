import { packFiles } from '#clients/cli/archive.ts';
import { Client, isFinalRun } from '#clients/client/client.ts';
import { type Figure, median, quantile, round, type Section } from './figures.ts';

const times = 5;
const slowApply = `resource "terraform_data" "slow" {
  provisioner "local-exec" {
    command = "sleep 900"
  }
}
`;

export const cancel: Section = {
  about: 'a run is canceled in the queue, and while Terraform applies',
  needsPlatform: true,
  async *measure(platform): AsyncGenerator<Figure> {
    if (!platform) return;
    const client = new Client(platform.url, platform.token);
    const seconds = async (name: string, status: string) => {
      const workspace = await client.createWorkspace(platform.organization, name, { 'auto-apply': true });
      const version = await client.upload(workspace.id, await packFiles({ 'main.tf': slowApply }));
      if (status === 'pending') await client.call('POST', `/workspaces/${workspace.id}/actions/lock`, {});
      const run = await client.createRun(workspace.id, {}, version.id);
      await client.waitForRun(run.id, ({ attributes }) => attributes.status === status);
      const from = Date.now();
      await client.act(run.id, 'cancel');
      const ended = await client.waitForRun(run.id, isFinalRun);
      if (ended.attributes.status !== 'canceled') throw new Error(`${run.id} is ${ended.attributes.status}`);
      return (Date.parse(ended.attributes['status-timestamps']['canceled-at'] ?? '') - from) / 1000;
    };
    const waiting: number[] = [];
    const applies: number[] = [];
    for (let n = 0; n < times; n++) {
      waiting.push(await seconds(`waiting-${n}`, 'pending'));
      applies.push(await seconds(`apply-${n}`, 'applying'));
    }
    yield { name: `in the queue to canceled, median of ${times}`, value: round(median(waiting), 1), unit: 's' };
    yield { name: 'longest', value: round(quantile(waiting, 1), 1), unit: 's' };
    yield { name: `in its apply to canceled, median of ${times}`, value: round(median(applies), 1), unit: 's' };
    yield { name: 'longest', value: round(quantile(applies, 1), 1), unit: 's' };
  },
};
