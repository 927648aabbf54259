import { expect, it } from 'vitest';
import { altered } from '#test/support/altered-text.ts';
import { followLog } from './support/waiting.ts';
import { client, newWorkspace, platform, startRun, untilFinal, untilStatus } from './support/world.ts';

it('a growing log is served from any offset, to holders of its URL only', async () => {
  const workspace = await newWorkspace({ 'auto-apply': true });
  const run = await startRun(workspace, {
    'main.tf': `resource "terraform_data" "clock" {
  provisioner "local-exec" {
    command = "for i in $(seq 20); do echo tick $i; sleep 0.3; done"
  }
}`,
  });
  await untilStatus(run, 'applying');
  const url = (await client.phase(run, 'apply')).attributes['log-read-url'] as string;
  let text = '';
  let pieces = 0;
  for await (const more of followLog(url, () => false, 20)) {
    text += more;
    if (more.includes('tick')) pieces++;
  }
  expect((await untilFinal(run)).attributes.status).toBe('applied');
  // The log arrives in pieces, not all at the end.
  expect(pieces).toBeGreaterThan(3);
  expect(text.match(/"output":"tick \d+/g)).toHaveLength(20);

  // Afterwards the same bytes are served from any offset, framed as clients expect.
  const whole = Buffer.from(await (await fetch(`${url}?limit=65536&offset=0`)).arrayBuffer());
  expect([whole[0], whole.at(-1)]).toEqual([0x02, 0x03]);
  expect(whole.subarray(1, -1).toString()).toBe(text);
  const part = Buffer.from(await (await fetch(`${url}?limit=10&offset=7`)).arrayBuffer());
  expect(part).toEqual(whole.subarray(7, 17));
  expect((await fetch(`${url}?limit=10&offset=${whole.length}`)).status).toBe(200);
  expect((await fetch(`${altered(url)}?limit=10&offset=0`)).status).toBe(404);
  expect(new URL(url).origin).toBe(new URL(platform.url).origin);
});
