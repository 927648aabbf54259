import { join } from 'node:path';
import type { Job } from '#run/protocols/runner.ts';
import { Client } from '#runner/program/client.ts';
import { Control } from '#runner/program/control.ts';
import { StateKeeper } from '#runner/program/state.ts';
import type { ControlPlane } from '#test/runner/program/control-plane.ts';

/** The runner's keeper of the state file in the folder, during an apply. */
export const keeperOf = (plane: ControlPlane, folder: string): StateKeeper => {
  const job = { runId: 'run-1', phase: 'apply', token: 'run-1.apply' } as Job;
  plane.offer(job);
  const control = new Control();
  const client = new Client(plane.url, job.token, control.over, () => control.end());
  const refuge = {
    address: { url: null },
    file: join(folder, 'kept'),
    runId: job.runId,
    key: null,
    freeDisk: () => {},
  };
  return new StateKeeper(join(folder, 'terraform.tfstate'), client, control, refuge);
};
