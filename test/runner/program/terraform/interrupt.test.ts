import { expect, it } from 'vitest';
import { Control } from '../../../functions/runner/control.ts';
import { run } from '../../../functions/runner/terraform/process.ts';
import { takeUsers } from '../../../functions/runner/terraform/users.ts';

/** Terraform loses an interrupt that comes before its first resource: "Stopping operation...", and all is applied. */
const script = `trap 'exit 3' INT
sleep 0.3
trap 'exit 4' INT
echo '{"@message":"a: Creating...","type":"apply_start"}'
for i in $(seq 100); do sleep 0.05; done`;

const interrupted = async (heedsFrom?: RegExp): Promise<number | null> => {
  const control = new Control();
  const { plan: user } = await takeUsers('');
  const environment = { PATH: process.env.PATH ?? '' };
  const command = { path: '/bin/sh', args: ['-c', script], directory: '/', environment, user, output: () => {} };
  const ended = run({ ...command, heedsFrom }, control);
  control.heed({ signal: 'interrupt' });
  return (await ended).code;
};

it('waits until Terraform heeds it', async () => {
  expect(await interrupted(/"type":"apply_start"/)).toBe(4);
});

it('comes at once where nothing is waited for', async () => {
  // The shell may not even have set its trap.
  expect([3, null]).toContain(await interrupted());
});
