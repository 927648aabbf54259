import { join } from 'node:path';
import type { Command } from '../arguments.ts';
import { program } from '../program.ts';
import { root, runProgram } from '../run-program.ts';

/** Demonstrates, runs or deploys the platform, from a checkout or from the package. */

const demo: Command = {
  name: 'demo',
  isProgram: true,
  about: 'Show a first apply and a failed run on an empty platform on this machine',
  options: { full: { about: 'also show run tasks, policies and a cost estimate' } },
  more: 'It uses its own data folder and removes it at the end.',
  run: (call) => runProgram([join(root, 'infra/local/demo/main.ts'), ...(call.flag('full') ? ['--full'] : [])]),
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
  run: (call) => {
    const time = call.text('recovered-to');
    return runProgram([join(root, 'infra/local/commands/start.ts'), ...(time ? ['--recovered-to', time] : [])]);
  },
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
  run: (call) => {
    const repeated = (name: string) => call.texts(name).flatMap((value) => [`--${name}`, value]);
    const flags = ['check', 'yes'].filter((name) => call.flag(name)).map((name) => `--${name}`);
    return runProgram([join(root, 'infra/deployment/main.ts'), ...repeated('context'), ...repeated('reset'), ...flags]);
  },
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
  run: (call) => {
    const named = ['stack', 'listen', 'port'].flatMap((name) => {
      const value = call.text(name);
      return value === undefined ? [] : [`--${name}`, value];
    });
    const only = call.texts('only').flatMap((name) => ['--only', name]);
    const flags = ['local', 'json', 'canary', 'full', 'clean'].filter((name) => call.flag(name));
    return runProgram([
      join(root, 'infra/deployment/verify/main.ts'),
      ...named,
      ...only,
      ...flags.map((name) => `--${name}`),
    ]);
  },
};

export const platformCommands = [demo, start, deploy, verify];
