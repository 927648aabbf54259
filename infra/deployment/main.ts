import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import type { Finding } from '#clients/cli/account-checks.ts';
import { CommandError, exit, wrongUsage } from '#clients/cli/exit.ts';
import { configuration, preflight } from '#clients/cli/preflight.ts';
import { ask, columns, isAttended, print, say } from '#clients/cli/terminal.ts';
import { baseImages, referenceOf } from '#infra/build/base-images.ts';
import { dataFormat } from '#infra/settings/data-format.ts';
import { readSettings, SettingsError, settingText } from '#infra/settings/settings.ts';
import { programFile, root } from '#platform/program.ts';
import { type Deployed, deployedSettings } from './deployed-settings.ts';
import { existingDataFindings } from './existing-data/findings.ts';
import { planSettings, type SettingsPlan } from './settings-plan.ts';

/** `stepform deploy`: settings of the deployed platform, prerequisites, confirmation, `cdk deploy`. */

const afterwards = `
Create the first organization, with the BootstrapFunctionName above:

  aws lambda invoke --function-name <BootstrapFunctionName> --cli-binary-format raw-in-base64-out \\
    --payload '{"organization":"acme","email":"you@example.com"}' /dev/stdout

It prints a one-time secret, and where to sign in with it. Deploy again to upgrade; the settings are kept.`;

const givenSettings = (pairs: string[]): Record<string, string> =>
  Object.fromEntries(
    pairs.map((pair) => {
      const [name = '', ...value] = pair.split('=');
      if (!name || !value.length) throw wrongUsage(`-c ${pair}: give name=value.`);
      return [name, value.join('=')];
    }),
  );

const isFinding = (answer: Deployed | Finding): answer is Finding => 'todo' in answer;

/** A finding if they cannot be read; preflight reports missing credentials and an AWS that does not answer. */
const readDeployed = async (stackName: string): Promise<Deployed | Finding | undefined> => {
  const { region, credentials } = await configuration();
  if (!region || !credentials) return undefined;
  return deployedSettings({ region, credentials }, stackName).catch(({ message }: Error) => ({
    what: `Settings: those of stack ${stackName} cannot be read (${message}).`,
    todo: 'Check region and network.',
  }));
};

/** A check that fails reports nothing: the deployment may still work. */
const dataFindings = async (region: string, { context }: SettingsPlan): Promise<Finding[]> => {
  const { credentials } = await configuration();
  if (!credentials) return [];
  return existingDataFindings({ region, credentials }, readSettings(context)).catch(() => []);
};

const describe = ({ chosen, kept, changed, warnings }: SettingsPlan, isFirst: boolean): void => {
  const rows = isFirst
    ? Object.entries(chosen).map(([name, value]) => ['  new', name, settingText(value)])
    : [
        ...kept.map((name) => ['  kept', name, settingText(chosen[name])]),
        ...changed.map(({ name, from, to }) => ['  changed', name, `${from ?? 'default'} → ${to ?? 'default'}`]),
      ];
  say(`Settings${isFirst ? ' of a new platform' : ''}:${rows.length ? '' : ' all at their defaults'}`);
  for (const line of columns(rows)) say(line);
  for (const warning of warnings) say(warning);
};

/** Two deployments of one commit may differ then. */
const unpinnedImages = ({ context }: SettingsPlan): string[] =>
  context.runnerImage === undefined
    ? Object.values(baseImages())
        .filter(({ digest }) => digest === null)
        .map(referenceOf)
    : [];

/** @throws {CommandError} without a confirmation */
const confirm = async ({ changed }: SettingsPlan, isFirst: boolean): Promise<void> => {
  const names = changed.filter(({ sensitive }) => sensitive).map(({ name }) => name);
  if (!isFirst && !names.length) return;
  const question = isFirst
    ? 'There is no platform of this name yet: this creates one.'
    : `These changes affect security, existing data or addresses: ${names.join(', ')}.`;
  if (!isAttended()) throw wrongUsage(`${question} Confirm with --yes.`);
  if ((await ask(`${question} Type "yes" to deploy\n> `)) !== 'yes') throw new CommandError('Not deployed.');
};

/** The CDK's command line; undefined without the CDK, which the package does not bring. */
const findCdk = (): string | undefined => {
  const { resolve } = createRequire(import.meta.url);
  try {
    resolve('aws-cdk-lib/package.json');
    return join(dirname(resolve('aws-cdk/package.json')), 'bin/cdk');
  } catch {
    return undefined;
  }
};

const noCdk: Finding = {
  what: 'AWS CDK: not installed beside stepform.',
  todo: 'npm install aws-cdk aws-cdk-lib constructs',
};

const cdk = (program: string, args: string[]): Promise<number> =>
  new Promise((resolve, reject) => {
    // The CDK would report its use to AWS.
    const env = { CDK_DISABLE_CLI_TELEMETRY: 'true', ...process.env };
    const child = spawn(process.execPath, [program, ...args], { cwd: root, env, stdio: 'inherit' });
    // The CDK handles Ctrl-C, which reaches both.
    process.on('SIGINT', () => {});
    process.on('SIGTERM', () => child.kill('SIGTERM'));
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(signal === 'SIGINT' ? exit.interrupted : (code ?? exit.failed)));
  });

const { values } = parseArgs({
  options: {
    context: { type: 'string', short: 'c', multiple: true, default: [] },
    reset: { type: 'string', multiple: true, default: [] },
    check: { type: 'boolean', default: false },
    yes: { type: 'boolean', short: 'y', default: false },
  },
});

/** @throws {CommandError} for a version that would misread the data, newer or older */
const checkFormat = (deployed: Deployed | undefined): void => {
  if (!deployed || deployed.dataFormat === dataFormat) return;
  if (deployed.dataFormat < dataFormat)
    throw new CommandError(
      `The deployed platform has data of format ${deployed.dataFormat}, which this version (format ${dataFormat}) would misread. ` +
        'Deploy this version under another name (-c stackName=…), and copy the organizations with stepform import (infra/docs/releases.md).',
    );
  throw new CommandError(
    `The deployed platform writes data of format ${deployed.dataFormat}, which this version (format ${dataFormat}) would misread. Deploy that version or a later one. ` +
      'To go back all the same, restore the table to a time before that upgrade (infra/docs/recovery.md), and deploy with npx cdk deploy --all --no-previous-parameters, all settings and -c tableName=….',
  );
};

const deploy = async (): Promise<number> => {
  const cdkProgram = findCdk();
  const { context: file = {} } = JSON.parse(readFileSync(join(root, 'cdk.json'), 'utf8')) as {
    context?: Record<string, unknown>;
  };
  const given = givenSettings(values.context);
  const stackName = String(given.stackName ?? file.stackName ?? 'Stepform');
  const deployed = await readDeployed(stackName);
  const unreadable = deployed && isFinding(deployed) ? deployed : undefined;
  const known = deployed && !isFinding(deployed) ? deployed : undefined;
  checkFormat(known);
  const plan = unreadable ? undefined : planSettings({ deployed: known, file, given, reset: values.reset });

  const { account, region, missing, low } = await preflight(
    plan?.context ?? { ...file, ...given },
    referenceOf(baseImages().node),
  );
  if (unreadable) missing.push(unreadable);
  else if (plan && account && region) missing.push(...(await dataFindings(region, plan)));
  if (!cdkProgram) missing.push(noCdk);
  if (missing.length || !plan || !cdkProgram) {
    throw new CommandError(
      `Not ready to deploy:\n${missing.map(({ what, todo }) => `  ${what}\n    ${todo}`).join('\n')}`,
    );
  }
  for (const { what, todo } of low) say(`Low quota: ${what} To raise it:\n  ${todo}`);
  const unpinned = unpinnedImages(plan);
  if (unpinned.length)
    say(
      `Images by tag, as it is today: ${unpinned.join(', ')}. To pin them by digest: npm run base-images, in a checkout.`,
    );
  describe(plan, !known);
  say(`Stack ${stackName}, account ${account}, region ${region}: ready to deploy.`);
  if (values.check) return exit.done;
  if (!values.yes) await confirm(plan, !known);

  // With the CDK's own keys of the command line.
  const context = Object.entries({ ...given, ...plan.chosen }).flatMap(([name, value]) => [
    '-c',
    `${name}=${settingText(value)}`,
  ]);
  const asking = values.yes ? ['--require-approval', 'never'] : [];
  // Relative to `root`: the CDK takes no second quoted word.
  const app = `"${process.execPath}" ${relative(root, programFile('infra/stack/app.ts'))}`;
  // All changes are confirmed (infra/stack/recorded-settings.ts).
  const output = join(mkdtempSync(join(tmpdir(), 'stepform-deploy-')), 'cdk.out');
  const options = ['--all', '--no-previous-parameters', '--app', app, '--output', output];
  const code = await cdk(cdkProgram, ['deploy', ...options, ...context, ...asking]);
  if (code === exit.done) print(afterwards);
  return code;
};

try {
  process.exitCode = await deploy();
} catch (error) {
  if (!(error instanceof CommandError || error instanceof SettingsError)) throw error;
  if (error.message) say(error.message);
  process.exitCode = exit.failed;
}
