import { join } from 'node:path';
import type { Command } from '../arguments.ts';
import { program } from '../program.ts';
import { root, runProgram } from '../run-program.ts';

/** Operations on the data folder of a platform on one machine, from a checkout or from the package. */

const local = (name: string): string => join(root, 'infra/local/commands', name);
const dataFolder = 'Data folder: STEPFORM_DATA, or .stepform in this folder.';
const forced = (force: boolean): string[] => (force ? ['--force'] : []);

const backup: Command = {
  name: 'backup',
  isProgram: true,
  about: 'Save the data of the platform on this machine to one private file',
  takes: '<file>',
  options: { force: { about: 'overwrite the file' } },
  more: `${dataFolder} The platform may run. The file contains tokens, variables and states.`,
  run: (call) => runProgram([local('backup-command.ts'), 'backup', call.required(0), ...forced(call.flag('force'))]),
};

const restore: Command = {
  name: 'restore',
  isProgram: true,
  about: 'Restore the data of the platform on this machine from a backup',
  takes: '<file>',
  options: { force: { about: 'replace a data folder that is not empty' } },
  more: `${dataFolder} Stop the platform first. If anything was planned or applied after the backup: ${program} start --recovered-to <time>`,
  run: (call) => runProgram([local('backup-command.ts'), 'restore', call.required(0), ...forced(call.flag('force'))]),
};

const recover: Command = {
  name: 'recover',
  isProgram: true,
  about: 'After a restore: end the runs in progress on this machine’s platform',
  takes: '<time>',
  more: `${dataFolder} The platform must be running. The time is that of the backup, in UTC. Repeat it until "done" is true.

  ${program} recover 2026-01-31T08:00:00Z`,
  run: (call) => runProgram([local('recover-command.ts'), call.required(0)]),
};

const openState: Command = {
  name: 'open-state',
  isProgram: true,
  about: 'Print a state that a runner on this machine could not upload and kept encrypted',
  takes: '<file>',
  more: `${dataFolder} The platform must be running: it has the key.

  ${program} open-state <file> > recovered.tfstate`,
  run: (call) => runProgram([local('open-state.ts'), call.required(0)]),
};

export const dataFolderCommands = [backup, restore, recover, openState];
