import { packFiles } from '#clients/cli/archive.ts';
import { Client, isFinalRun } from '#clients/client/client.ts';
import { followLog } from '#clients/client/log.ts';
import { type Figure, quantile, round, type Section } from './figures.ts';

const lines = 50;

export const logs: Section = {
  about: 'from a line’s writing in the runner to its reading through the API',
  needsPlatform: true,
  async *measure(platform): AsyncGenerator<Figure> {
    if (!platform) return;
    const client = new Client(platform.url, platform.token);
    const workspace = await client.createWorkspace(platform.organization, 'logs', { 'auto-apply': true });
    const configuration = `resource "terraform_data" "clock" {
  provisioner "local-exec" {
    command = "for i in $(seq ${lines}); do echo at=$(date +%s%3N); sleep 0.1; done"
  }
}`;
    const version = await client.upload(workspace.id, await packFiles({ 'main.tf': configuration }));
    const run = await client.createRun(workspace.id, {}, version.id);
    await client.waitForRun(run.id, (now) => now.attributes.status === 'applying' || isFinalRun(now));
    const url = (await client.phase(run, 'apply')).attributes['log-read-url'];
    // Terraform's JSON has each line twice: as a message and as the output of the provisioner.
    const arrivals = new Map<number, number>();
    for await (const text of followLog(url, () => false, 20)) {
      const arrived = Date.now();
      for (const at of [...text.matchAll(/at=(\d{13})/g)].map(([, digits]) => Number(digits)))
        if (!arrivals.has(at)) arrivals.set(at, arrived);
    }
    const delays = [...arrivals].map(([at, arrived]) => arrived - at);
    if (delays.length !== lines) throw new Error(`${delays.length} of ${lines} lines arrived`);
    yield { name: 'log line, written to read, p50', value: round(quantile(delays, 0.5)), unit: 'ms', atMost: 300 };
    yield { name: 'log line, written to read, p99', value: round(quantile(delays, 0.99)), unit: 'ms', atMost: 300 };
  },
};
