import { join } from 'node:path';
import type { Call, Command } from '../arguments.ts';
import type { ExitCode } from '../exit.ts';
import { program } from '../program.ts';
import { root, runProgram } from '../run-program.ts';

/** Demonstrates, runs or deploys the platform, from a checkout or from the package. */

/** Runs a program of the platform with the options of this command. */
const passOn = (call: Call, path: string): Promise<ExitCode> => {
  const words = Object.entries(call.command.options ?? {}).flatMap(([name, { value, multiple }]) => {
    if (value === undefined) return call.flag(name) ? [`--${name}`] : [];
    const values = multiple ? call.texts(name) : [call.text(name)];
    return values.flatMap((text) => (text === undefined ? [] : [`--${name}`, text]));
  });
  return runProgram([join(root, path), ...words]);
};

const demo: Command = {
  name: 'demo',
  isProgram: true,
  about: 'Show a first apply and a failed run on an empty platform on this machine',
  options: { full: { about: 'also show run tasks, policies and a cost estimate' } },
  more: 'It uses its own data folder and removes it at the end.',
  run: (call) => passOn(call, 'infra/local/demo/main.ts'),
};

const start: Command = {
  name: 'start',
  isProgram: true,
  about: 'Run the platform on this machine',
  options: {
    'recovered-to': { about: 'after a restore: first end the runs that were in progress then', value: 'time' },
  },
  more: `Data folder: STEPFORM_DATA, or .stepform in this folder. Ports: PORT, HTTPS_PORT and ENVIRONMENTS_PORT. Ctrl-C stops it;
unfinished runs continue at the next start.

  ${program} start --recovered-to 2026-01-31T08:00:00Z`,
  run: (call) => passOn(call, 'infra/local/commands/start.ts'),
};

const deploy: Command = {
  name: 'deploy',
  isProgram: true,
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
  run: (call) => passOn(call, 'infra/deployment/main.ts'),
};

const drain: Command = {
  name: 'drain',
  isProgram: true,
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
  run: (call) => passOn(call, 'infra/deployment/drain.ts'),
};

const verify: Command = {
  name: 'verify',
  isProgram: true,
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
  run: (call) => passOn(call, 'infra/deployment/verify/main.ts'),
};

export const platformCommands = [demo, start, deploy, verify, drain];
