import { describe, expect, it } from 'vitest';
import { Control } from '#runner/program/control.ts';
import { run } from '#runner/program/terraform/process.ts';
import type { User } from '#runner/program/terraform/users.ts';
import { isRoot, newUsers } from './new-users.ts';

/**
 * Terraform loses an interrupt that arrives before its first resource: it prints "Stopping operation..." and applies
 * everything.
 */
const script = `trap 'exit 3' INT
sleep 0.3
trap 'exit 4' INT
echo '{"@message":"a: Creating...","type":"apply_start"}'
for i in $(seq 100); do sleep 0.05; done`;

const interrupted = async (user: User, heedsFrom?: RegExp): Promise<number | null> => {
  const control = new Control();
  const environment = { PATH: process.env.PATH ?? '' };
  const command = { path: '/bin/sh', args: ['-c', script], directory: '/', environment, user, output: () => {} };
  const ended = run({ ...command, heedsFrom }, control);
  control.heed({ signal: 'interrupt' });
  return (await ended).code;
};

describe.each([
  ['in a room', { rooms: true }, isRoot],
  ['as a user of its own', { rooms: false }, isRoot],
  ['as the same user', { terraformUsers: 'none' }, true],
])('an interrupt of Terraform %s', (_, separation, isPossible) => {
  it.runIf(isPossible)('is delayed until Terraform reacts to it', async () => {
    expect(await interrupted(newUsers(separation).plan, /"type":"apply_start"/)).toBe(4);
  });

  it.runIf(isPossible)('is sent at once if there is no output to wait for', async () => {
    // The shell may not have set its trap yet.
    expect([3, null]).toContain(await interrupted(newUsers(separation).plan));
  });
});
