import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { providePython } from './python.ts';
import { synthesize } from './synth.ts';

/**
 * `npm run lint:template`: checks the synthesized templates against CloudFormation's own schemas (cfn-lint), in three
 * regions, with default settings and with every setting that adds resources. cfn-lint is a Python program: without
 * Python, or without a registry to install it from, this prints SKIPPED.
 */

const version = '1.58.0';
/** With all dependencies: nothing else is installed. */
const packages: [string, ...string[]] = [
  `cfn-lint==${version}`,
  'jsonpatch==1.48',
  'jsonpointer==3.12',
  'mpmath==1.3.0',
  'networkx==3.6.1',
  'pyyaml==6.0.4',
  'regex==2026.11.19',
  'sympy==1.14.0',
  'typing_extensions==4.16.0',
];
const regions = ['us-east-1', 'eu-central-1', 'ap-southeast-2'];

/** Intended findings. */
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
    runnerImage: 'public.ecr.aws/docker/library/node:24-bookworm',
    identityKeys: '1,2',
    domainName: 'terraform.example.com',
    environmentsDomainName: 'environments.example.com',
    certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/01234567-89ab-cdef-0123-456789abcdef',
    hostedZoneId: 'Z0123456789ABC',
    executeApiEndpoint: false,
    backupVaultArn: 'arn:aws:backup:eu-west-1:123456789012:backup-vault:stepform',
    replicaBucketArn: 'arn:aws:s3:::stepform-elsewhere',
    replicaKeyArn: 'arn:aws:kms:eu-west-1:123456789012:key/mrk-0123456789abcdef0123456789abcdef',
  },
];

const build = resolve(import.meta.dirname, '../../.build');

const provided = await providePython('cfn-lint', packages);
if ('missing' in provided) console.error(`SKIPPED: the template is not linted: ${provided.missing}`);
if ('program' in provided) {
  const files: string[] = [];
  for (const [n, context] of settings.entries()) {
    const { templates } = await synthesize({ outdir: join(build, `lint-${n}`), context });
    files.push(...templates.map(({ file }) => file));
  }
  // In parallel: half of the time is cfn-lint's start.
  const options = ['--ignore-checks', ...Object.keys(ignored), '--regions', ...regions, '--template', ...files];
  const { status, stdout, stderr } = spawnSync(provided.program, options, { encoding: 'utf8' });
  const names = settings.map((one) => Object.keys(one).join(', ') || 'default settings').join('; ');
  console.log(`cfn-lint ${version}, ${regions.join(', ')}: ${names}: ${status === 0 ? 'clean' : 'NOT CLEAN'}`);
  if (status !== 0) {
    console.error(stdout || stderr);
    process.exitCode = 1;
  }
}
