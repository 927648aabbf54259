import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Command } from '../arguments.ts';
import { CommandError, exit } from '../exit.ts';
import { preflight } from '../preflight.ts';
import { program } from '../program.ts';
import { root, runProgram } from '../run-program.ts';
import { print, say } from '../terminal.ts';

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

const afterwards = `
Create the first organization, with the BootstrapFunctionName above:

  aws lambda invoke --function-name <BootstrapFunctionName> --cli-binary-format raw-in-base64-out \\
    --payload '{"organization":"acme","email":"you@example.com"}' /dev/stdout

It prints a one-time secret, and where to sign in with it. Deploy again to upgrade, or with other settings.`;

/** CDK context: that of cdk.json, with the settings of the command line. */
const contextWith = (settings: string[]): Record<string, unknown> => {
  const { context } = JSON.parse(readFileSync(join(root, 'cdk.json'), 'utf8')) as { context?: object };
  const pairs = settings.map((setting) => {
    const [name = '', ...value] = setting.split('=');
    return [name, value.join('=')] as const;
  });
  return { ...context, ...Object.fromEntries(pairs) };
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
    check: { about: 'only check the prerequisites' },
    yes: { about: 'do not ask before permission changes', short: 'y' },
  },
  more: `First checks region, credentials, CDK bootstrap, ECS's role, the network's quota and zones, and Docker (not needed with -c runnerImage=…), and
lists everything missing and low quotas.
Credentials and region come from the environment, or from the profile in AWS_PROFILE, as for the AWS CLI. Give all settings again each time.

  ${program} deploy -c terraformVersion=1.11.4 -c alarmEmail=ops@example.com`,
  run: async (call) => {
    const { account, region, missing, low } = await preflight(contextWith(call.texts('context')));
    if (missing.length) {
      throw new CommandError(
        `Not ready to deploy:\n${missing.map(({ what, todo }) => `  ${what}\n    ${todo}`).join('\n')}`,
      );
    }
    for (const { what, todo } of low) say(`Low quota: ${what} To raise it:\n  ${todo}`);
    say(`Account ${account}, region ${region}: ready to deploy.`);
    if (call.flag('check')) return exit.done;
    const cdk = join(dirname(createRequire(import.meta.url).resolve('aws-cdk/package.json')), 'bin/cdk');
    const settings = call.texts('context').flatMap((setting) => ['-c', setting]);
    const asking = call.flag('yes') ? ['--require-approval', 'never'] : [];
    const app = `"${process.execPath}" infra/stack/app.ts`;
    const code = await runProgram([cdk, 'deploy', '--all', '--app', app, ...settings, ...asking], root);
    if (code === exit.done) print(afterwards);
    return code;
  },
};

export const platformCommands = [demo, start, deploy];
