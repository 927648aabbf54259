import * as v from 'valibot';
import { backupEntries, backupProblems } from '#infra/stack/backup-settings.ts';
import { domainEntries, domainProblems } from '#infra/stack/domain-settings.ts';
import { environmentEntries } from '#infra/stack/environments.ts';
import { existingDataEntries, existingDataProblems } from '#infra/stack/existing-data.ts';
import { githubAppEntries, githubAppProblems } from '#infra/stack/github-app.ts';
import { ipRangeEntries, ranges } from '#infra/stack/ip-ranges.ts';
import { maxRunnerEntries } from '#infra/stack/max-runners.ts';
import { organizationEntries, organizationProblems } from '#infra/stack/organizations.ts';
import { sharedProviderEntries } from '#infra/stack/shared-providers.ts';
import { signInEntries, signInProblems } from '#infra/stack/sign-in.ts';
import { texts, yesOrNo } from '#infra/stack/text-list.ts';
import { traceEntries, traceProblems } from '#infra/stack/traces.ts';
import { warmRunnerEntries, warmRunnerProblems } from '#infra/stack/warm-runners.ts';
import { shortestRetentionDays } from '#run/retention.ts';

/**
 * Settings of an operator, in the `context` of cdk.json or as `stepform deploy -c name=value`. Durations are seconds
 * unless the name has another unit.
 */

/** CDK passes `-c name=value` as text. */
const whole = (min: number, max: number) =>
  v.pipe(
    v.union([v.number(), v.pipe(v.string(), v.regex(/^\d+$/, 'must be a whole number'), v.transform(Number))]),
    v.integer('must be a whole number'),
    v.minValue(min, `must be at least ${min}`),
    v.maxValue(max, `must be at most ${max}`),
  );

const exactVersion = v.pipe(
  v.string(),
  v.regex(/^\d+\.\d+\.\d+(-[a-z0-9.]+)?$/, 'must be an exact version, e.g. 1.11.4'),
);

/** CloudWatch Logs accepts only these periods. */
const retentions = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

const schema = v.object({
  stackName: v.optional(
    v.pipe(v.string(), v.regex(/^[A-Za-z][A-Za-z0-9-]{0,122}$/, 'must be letters, digits and hyphens')),
    'Stepform',
  ),
  /** The engine that runs configurations: Terraform or OpenTofu. */
  terraformEngine: v.optional(v.picklist(['terraform', 'tofu'], 'must be terraform or tofu')),
  /** Version in the runner's image. A runner downloads and verifies any other version that a workspace requires. */
  terraformVersion: v.optional(exactVersion),
  /** How long a plan's runner stays ready for the apply, which then starts at once; 0 = never. */
  readySeconds: v.optional(whole(0, 3600), 120),
  /** Heartbeat interval of a runner; the state machine ends a phase after 60 s without a heartbeat. */
  heartbeatSeconds: v.optional(whole(1, 20), 5),
  /** Fargate sizes; AWS rejects combinations that it does not offer. */
  runnerCpu: v.optional(whole(256, 16384), 1024),
  runnerMemoryMiB: v.optional(whole(512, 122880), 2048),
  /** Disk of a runner; the first 20 GiB are free. */
  runnerDiskGiB: v.optional(whole(20, 200), 20),
  /** An existing network in place of a new one; set both or neither. The subnets need a route to the internet. */
  vpcId: v.optional(v.pipe(v.string(), v.regex(/^vpc-[0-9a-f]+$/, 'must be the id of a VPC, e.g. vpc-0a1b2c3d'))),
  subnetIds: v.optional(texts),
  /** Whether runners get public addresses; by default only in a new network. */
  runnerPublicIp: v.optional(yesOrNo),
  /**
   * Processor of the runners and their image. The default is fixed, so that the runners do not depend on the machine that
   * deploys; every provider has a release for x86_64.
   */
  runnerArchitecture: v.optional(v.picklist(['arm64', 'x86_64'], 'must be arm64 or x86_64'), 'x86_64'),
  ...sharedProviderEntries,
  /**
   * A public image for runners, in place of a built one; each runner downloads the program from the bucket when it
   * starts.
   */
  runnerImage: v.optional(
    v.pipe(
      v.string(),
      v.regex(
        /^[a-z0-9][a-z0-9./_:@-]+$/i,
        'must be the name of an image, e.g. public.ecr.aws/docker/library/node:24-bookworm',
      ),
    ),
  ),
  /** Rotation period of the key for table and bucket: each of the first two rotations adds $1 a month. */
  keyRotationDays: v.optional(whole(90, 2560), 2560),
  /**
   * Names of the keys for workload identity tokens; the first one signs. To replace it: add a name at the end and
   * deploy; after 15 minutes, when every verifier has fetched it, put it first and deploy; after a day, when the last
   * old token has expired, remove the old name.
   */
  identityKeys: v.optional(
    v.pipe(
      texts,
      v.check((names) => names.every((name) => /^[A-Za-z0-9]{1,20}$/.test(name)), 'must be letters and digits'),
      v.check((names) => new Set(names).size === names.length, 'must be different names'),
      v.maxLength(5, 'must be at most 5'),
    ),
    ['1'],
  ),
  logRetentionDays: v.optional(
    v.pipe(
      whole(1, 3653),
      v.check((days) => retentions.includes(days), `must be one of ${retentions.join(', ')}`),
    ),
    30,
  ),
  /** How long uploaded configurations are kept; forever by default. A run that needs an expired one reports that. */
  configurationRetentionDays: v.optional(whole(shortestRetentionDays, 3653)),
  /** How long plans, logs and other data of runs are kept; forever by default. States are always kept. */
  runRetentionDays: v.optional(whole(shortestRetentionDays, 3653)),
  /** Private ranges that URLs of run tasks may resolve to, e.g. 10.1.0.0/16; none by default. */
  outboundAllowedCidrs: v.optional(ranges),
  /**
   * Private network of the functions that call run tasks, notifications, forges and sign-in issuers; set both or neither.
   * The subnets need a NAT gateway, because these functions call AWS and the internet too.
   */
  functionSubnetIds: v.optional(texts),
  functionSecurityGroupIds: v.optional(texts),
  /** What `cdk destroy` does with table, bucket, key and logs. With `destroy`, empty the bucket first. */
  removalPolicy: v.optional(v.picklist(['retain', 'destroy'], 'must be retain or destroy'), 'retain'),
  ...existingDataEntries,
  ...backupEntries,
  ...domainEntries,
  ...warmRunnerEntries,
  ...maxRunnerEntries,
  ...signInEntries,
  ...githubAppEntries,
  ...organizationEntries,
  ...traceEntries,
  ...environmentEntries,
  /** How long the audit trail is kept; HCP Terraform keeps 14 days. */
  auditRetentionDays: v.optional(whole(1, 3653), 90),
  /** Per user of the API. Terraform fails with a limit below 4 (go-tfe). */
  requestsPerSecond: v.optional(whole(10, 2000), 30),
  ...ipRangeEntries,
  /**
   * Address that SES may send from (its identity or one of its domain): the sender of e-mail notifications. Without it,
   * no e-mails are sent.
   */
  emailSender: v.optional(v.pipe(v.string(), v.email('must be an e-mail address'))),
  /** Alarm recipient. */
  alarmEmail: v.optional(v.pipe(v.string(), v.email('must be an e-mail address'))),
  /** Existing SNS topic that alarms are published to, as well. Its policy and key must let CloudWatch publish. */
  alarmTopicArn: v.optional(
    v.pipe(v.string(), v.regex(/^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[\w.-]+$/, 'must be the ARN of a topic in SNS')),
  ),
});

export const settingEntries = schema.entries;

type Raw = v.InferOutput<typeof schema>;
export type SettingName = keyof Raw;
/** The settings as an operator may give them, all optional. */
export type GivenSettings = Partial<Raw>;
export type Settings = Omit<Raw, 'terraformEngine' | 'terraformVersion'> & {
  terraformEngine: 'terraform' | 'tofu';
  terraformVersion: string;
  /**
   * The values that the operator set, without defaults: a later version may have better ones. Sorted by name. Without
   * `stackName`, which identifies the deployment. {@link readSettings} reads them to the same settings.
   */
  chosen: Record<string, unknown>;
};

const imageVersions = { terraform: '1.11.4', tofu: '1.9.1' };

/** A setting is unknown, missing or out of range. */
export class SettingsError extends Error {
  override name = 'SettingsError';
}

/** Settings are plain words; CDK's own context keys contain a colon, slash, at sign or hyphen. */
const isOurs = (key: string): boolean => /^[A-Za-z][A-Za-z0-9]*$/.test(key);

/** The settings in a CDK context, known or not. */
export const settingsOf = (context: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(context).filter(([key]) => isOurs(key)));

export const isSetting = (name: string): name is SettingName => Object.hasOwn(schema.entries, name);

const chosenOf = (ours: Record<string, unknown>, all: Raw): Record<string, unknown> =>
  Object.fromEntries(
    Object.keys(ours)
      .filter((name) => name !== 'stackName')
      .sort()
      .map((name) => {
        const value = all[name as SettingName];
        return [name, Array.isArray(value) && !value.length ? 'none' : value];
      }),
  );

/** The output of both stacks with {@link Settings.chosen} as JSON. */
export const settingsOutput = 'DeployedSettings';

/** A setting as `-c name=value` gives it. */
export const settingText = (value: unknown): string => (Array.isArray(value) ? value.join(',') : String(value));

/**
 * Reads CDK context and ignores CDK's own keys.
 * @param references settings that name resources of the same app, so that their values are unknown at synthesis
 * @throws {SettingsError} that names the setting, the problem and where it is set
 */
export const readSettings = (
  context: Record<string, unknown>,
  references: GivenSettings = {},
  where = 'Settings in cdk.json ("context") or -c options',
): Settings => {
  const ours = settingsOf(context);
  const all = { ...ours, ...references };
  const problems = Object.keys(ours)
    .filter((key) => !isSetting(key))
    .map((key) => `${key}: unknown setting (known settings: ${Object.keys(schema.entries).join(', ')})`);
  const result = v.safeParse(schema, ours);
  for (const issue of result.issues ?? []) problems.push(`${v.getDotPath(issue)}: ${readable(issue)}`);
  if ('vpcId' in all !== 'subnetIds' in all) problems.push('vpcId, subnetIds: set both, or neither for a new network');
  if ('functionSubnetIds' in all !== 'functionSecurityGroupIds' in all)
    problems.push('functionSubnetIds, functionSecurityGroupIds: set both, or neither');
  problems.push(
    ...domainProblems(all),
    ...existingDataProblems(all),
    ...backupProblems(all),
    ...signInProblems(all),
    ...githubAppProblems(all),
    ...organizationProblems(all),
    ...warmRunnerProblems(all),
    ...traceProblems(all),
  );
  if (problems.length || !result.success)
    throw new SettingsError(`${where}:\n${problems.map((p) => `  ${p}`).join('\n')}`);
  const terraformEngine = result.output.terraformEngine ?? 'terraform';
  return {
    ...result.output,
    ...references,
    terraformEngine,
    terraformVersion: result.output.terraformVersion ?? imageVersions[terraformEngine],
    chosen: chosenOf(ours, result.output),
  };
};

/** The message of a union does not help a reader; the last branch describes the expected text. */
const readable = (issue: v.BaseIssue<unknown>): string => {
  const inner = issue.issues?.at(-1)?.message;
  const value = JSON.stringify(issue.input);
  return `${issue.type === 'union' && inner ? inner : issue.message} (it is ${value})`;
};
