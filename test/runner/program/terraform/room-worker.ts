import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Control } from '#runner/program/control.ts';
import { run } from '#runner/program/terraform/process.ts';
import { takeUsers } from '#runner/program/terraform/users.ts';

/** A runner in a separate process, which prints the output of its room. */
const [, , folder = '', script = ''] = process.argv;
rmSync(join(folder, 'room'), { recursive: true, force: true });
const { plan } = takeUsers({ terraformUsers: '', rooms: true }, folder);
const environment = { PATH: process.env.PATH ?? '' };
await run(
  {
    path: '/bin/sh',
    args: ['-c', script],
    directory: folder,
    environment,
    user: plan,
    output: (bytes) => void process.stdout.write(bytes),
  },
  new Control(),
);
