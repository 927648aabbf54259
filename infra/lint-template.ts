import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { synthesize } from './synth.ts';

/**
 * `npm run lint:template`: holds the synthesized template against CloudFormation's own schemas (cfn-lint), in three
 * regions, once with default settings and once with everything that adds resources. cfn-lint is a Python program: without
 * Python, or a registry to install it from, nothing is checked, which is said.
 */

const version = '1.58.0';
const regions = ['us-east-1', 'eu-central-1', 'ap-southeast-2'];

/** What the templates say on purpose. */
const ignored = {
  W3005: 'CDK names a dependency that follows from a reference as well',
};

const settings: Record<string, unknown>[] = [
  {},
  {
    alarmEmail: 'ops@example.com',
    vpcId: 'vpc-0a1b2c3d',
    subnetIds: 'subnet-0a1b2c3d,subnet-0e4f5a6b',
    runRetentionDays: 365,
    removalPolicy: 'destroy',
    identityKeys: '1,2',
  },
];

const build = resolve(import.meta.dirname, '../.build');

const run = (command: string, args: string[]) => spawnSync(command, args, { encoding: 'utf8' });

/** Path of the program, installed when it is not; undefined with the reason told when it cannot be. */
const provide = (): string | undefined => {
  const folder = join(build, `cfn-lint-${version}`);
  const program = join(folder, 'bin/cfn-lint');
  if (existsSync(program)) return program;
  const skipped = (why: string) => {
    console.error(`SKIPPED: the template is not linted: ${why.trim().split('\n').at(-1)}`);
    return undefined;
  };
  const python = ['python3', 'python'].find((name) => run(name, ['-c', 'import venv, ensurepip']).status === 0);
  if (!python) return skipped('there is no Python 3 with venv on the PATH');
  const made = run(python, ['-m', 'venv', folder]);
  if (made.status !== 0) return skipped(made.stderr);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `cfn-lint==${version}`];
  const installed = run(join(folder, 'bin/python'), pip);
  return installed.status === 0 ? program : skipped(installed.stderr || 'cfn-lint could not be installed');
};

const program = provide();
for (const [n, context] of program ? settings.entries() : []) {
  const { template } = await synthesize({ outdir: join(build, `lint-${n}`), context });
  const file = join(build, `lint-${n}.json`);
  await writeFile(file, JSON.stringify(template));
  const options = ['--ignore-checks', ...Object.keys(ignored), '--regions', ...regions, '--template', file];
  const { status, stdout, stderr } = run(program as string, options);
  const names = Object.keys(context).join(', ') || 'default settings';
  console.log(`cfn-lint ${version}, ${regions.join(', ')}: ${names}: ${status === 0 ? 'clean' : 'NOT CLEAN'}`);
  if (status !== 0) {
    console.error(stdout || stderr);
    process.exitCode = 1;
  }
}
