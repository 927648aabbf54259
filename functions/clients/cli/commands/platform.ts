import { programFile } from '#platform/program.ts';
import type { Command } from '../arguments.ts';
import { program } from '../program.ts';
import { runProgram } from '../run-program.ts';

/** Programs that demonstrate, run, deploy, verify or save the platform, from a checkout or from the package. */

const dataFolder = 'Data folder: STEPFORM_DATA, or .stepform in this folder.';

interface Program extends Pick<Command, 'name' | 'about' | 'takes' | 'options' | 'more'> {
  /** Its path, and arguments before those of the command. */
  file: readonly [path: string, ...first: string[]];
  /** Options of Node. */
  node?: readonly string[];
}

/** `npm start` has it, too (infra/docs/performance.md). */
export const youngGeneration = '--max-semi-space-size=8';

const programs: Program[] = [
  {
    name: 'demo',
    file: ['infra/local/demo/main.ts'],
    about: 'Show a first apply and a failed run on an empty platform on this machine',
    options: {
      full: { about: 'also show run tasks, policies and a cost estimate' },
      'no-wait': { about: 'ask nothing, and end at once' },
    },
    more: `On a terminal you confirm the run, and the page stays open until you press Enter. It uses its own data folder and removes it at
the end.`,
  },
  {
    name: 'start',
    file: ['infra/local/commands/start.ts'],
    node: [youngGeneration],
    about: 'Run the platform on this machine',
    options: {
      'recovered-to': { about: 'after a restore: first end the runs that were in progress then', value: 'time' },
    },
    more: `Data folder: STEPFORM_DATA, or .stepform in this folder. Ports: PORT, HTTPS_PORT and ENVIRONMENTS_PORT. Ctrl-C stops it;
unfinished runs continue at the next start.

  ${program} start --recovered-to 2026-01-31T08:00:00Z`,
  },
  {
    name: 'deploy',
    file: ['infra/deployment/main.ts'],
    about: 'Deploy the platform to your AWS account, or update it',
    options: {
      context: {
        about: 'setting, e.g. alarmEmail=ops@example.com; repeatable',
        value: 'name=value',
        short: 'c',
        multiple: true,
      },
      reset: { about: 'return a setting to its default; repeatable', value: 'name', multiple: true },
      check: { about: 'only check the prerequisites and compare the settings' },
      yes: { about: 'do not ask before changes of settings and permissions', short: 'y' },
    },
    more: `Keeps the settings of the deployed platform, except for those given here or in cdk.json. Prints what changes, and asks before changes that
affect security, existing data or addresses.
First checks region, credentials, CDK bootstrap, ECS's role, the network's quota and zones, and Docker (not needed with -c runnerImage=…), and
lists everything missing and low quotas.
Credentials and region come from the environment, or from the profile in AWS_PROFILE, as for the AWS CLI.

  ${program} deploy -c terraformVersion=1.11.4 -c alarmEmail=ops@example.com
  ${program} deploy --reset alarmEmail`,
  },
  {
    name: 'verify',
    file: ['infra/deployment/verify/main.ts'],
    about: 'Check a deployment from end to end, and remove everything that the check created',
    options: {
      stack: { about: 'the stack of the platform (default: Stepform)', value: 'name' },
      local: { about: 'check the platform on this machine instead' },
      json: { about: 'print one JSON document, e.g. to attach it to an issue' },
      canary: { about: 'only the checks for a schedule: less than three minutes' },
      only: { about: 'only the check of that name; repeatable', value: 'check', multiple: true },
      full: { about: 'also restore a backup of the table beside it, for up to an hour' },
      listen: { about: 'URL that leads to this machine, for run tasks and notifications', value: 'URL' },
      port: { about: 'port that the URL of --listen leads to (default: 8787)', value: 'number' },
      clean: { about: 'only remove what an interrupted check left; reads the whole table' },
    },
    more: `Takes about five minutes and costs cents. Creates an organization of its own, and uses AWS with your credentials as deploy does. Each line is
ok, differs (works, but not as documented), failed, or skipped with the reason.
Exit code: 0, or 1 if a check failed, or 15 if one differs.

  ${program} verify
  ${program} verify --json > verify.json`,
  },
  {
    name: 'drain',
    file: ['infra/deployment/drain.ts'],
    about: 'Refuse new runs, and wait until none is in progress; before a risky upgrade or a destroy',
    options: {
      reason: { about: 'shown to users whose run is refused (default: maintenance)', value: 'text' },
      status: { about: 'only list the runs in progress' },
      resume: { about: 'end the drain' },
      stack: { about: 'name of the platform on AWS', value: 'name' },
    },
    more: `For the platform on this machine if its data folder is here (STEPFORM_DATA, or .stepform), otherwise for the stack Stepform on AWS. Existing
runs continue; those that wait for a user are listed. Pushes, scheduled destroys and schedules of environments wait until the drain ends.

  ${program} drain --reason "upgrade to 0.2, back at 18:00 UTC"
  ${program} drain --resume`,
  },
  {
    name: 'backup',
    file: ['infra/local/commands/backup-command.ts', 'backup'],
    about: 'Save the data of the platform on this machine to one private file',
    takes: '<file>',
    options: { force: { about: 'overwrite the file' } },
    more: `${dataFolder} The platform may run. The file contains tokens, variables and states.`,
  },
  {
    name: 'restore',
    file: ['infra/local/commands/backup-command.ts', 'restore'],
    about: 'Restore the data of the platform on this machine from a backup',
    takes: '<file>',
    options: { force: { about: 'replace a data folder that is not empty' } },
    more: `${dataFolder} Stop the platform first. If anything was planned or applied after the backup: ${program} start --recovered-to <time>`,
  },
  {
    name: 'recover',
    file: ['infra/local/commands/recover-command.ts'],
    about: 'After a restore: end the runs in progress on this machine’s platform',
    takes: '<time>',
    more: `${dataFolder} The platform must be running. The time is that of the backup, in UTC. Repeat it until "done" is true.

  ${program} recover 2026-01-31T08:00:00Z`,
  },
  {
    name: 'open-state',
    file: ['infra/local/commands/open-state.ts'],
    about: 'Print a state that a runner on this machine could not upload and kept encrypted',
    takes: '<file>',
    more: `${dataFolder} The platform must be running: it has the key.

  ${program} open-state <file> > recovered.tfstate`,
  },
];

/** Sources of the programs, which the package has as bundles (infra/build/programs.ts). */
export const programSources = [...new Set(programs.map(({ file: [path] }) => path))];

export const platformCommands = programs.map(
  ({ file: [path, ...first], node = [], ...command }): Command => ({
    ...command,
    isProgram: true,
    run: (call) => runProgram([...node, programFile(path), ...first, ...call.args]),
  }),
);
