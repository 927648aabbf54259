import { elements } from '#clients/cli/account-checks.ts';
import { ask } from '#clients/cli/ask-aws.ts';
import { lastingPrefixes } from '#infra/stack/bucket-rules.ts';
import { type Check, differs, expect, type Outcome, ok } from '../check.ts';
import { presignedRequest, type Target } from '../target.ts';

/** The backup is made at 03:00 UTC and may take 13 hours, and its copy some more (infra/stack/table-backup.ts). */
const maxCopyHours = 48;
/** S3 Replication Time Control (infra/stack/replication.ts). */
const maxReplicationMinutes = 15;
/** Older objects may be from before the setting, which S3 does not copy. */
const newestObjects = 20;

interface CopyJob {
  DestinationBackupVaultArn?: string;
  State?: string;
  StatusMessage?: string;
  /** Seconds. */
  CreationDate?: number;
  /** Seconds. */
  CompletionDate?: number;
}

const newestFirst = (key: 'CreationDate' | 'CompletionDate') => (a: CopyJob, b: CopyJob) =>
  (b[key] ?? 0) - (a[key] ?? 0);

/** The newest copy of the table in the vault (AWS Backup API: ListCopyJobs). */
const tableCopy = async (target: Target, vaultArn: string): Promise<Outcome> => {
  const [, partition, , region, account] = target.stateMachineArn.split(':');
  const tableArn = `arn:${partition}:dynamodb:${region}:${account}:table/${target.table}`;
  const path = `/copy-jobs/?maxResults=1000&resourceArn=${encodeURIComponent(tableArn)}`;
  const { ok: isOk, text } = await ask('backup', target.caller, { method: 'GET', path });
  expect(isOk, `copy jobs of AWS Backup cannot be read: ${text.slice(0, 200)}`);
  const { CopyJobs: all = [] } = JSON.parse(text) as { CopyJobs?: CopyJob[] };
  const jobs = all.filter((job) => job.DestinationBackupVaultArn === vaultArn).sort(newestFirst('CreationDate'));
  const failed = jobs[0]?.State === 'FAILED' ? `; the last copy failed: ${jobs[0].StatusMessage ?? 'no reason'}` : '';
  const [newest] = jobs.filter(({ State }) => State === 'COMPLETED').sort(newestFirst('CompletionDate'));
  if (!newest?.CompletionDate) {
    expect(!failed, `no copy of the table in ${vaultArn}${failed}`);
    return differs(`no copy of the table in ${vaultArn} yet: the first follows the backup at 03:00 UTC`);
  }
  const hours = (Date.now() / 1000 - newest.CompletionDate) / 3600;
  const said = `the newest copy of the table is ${hours.toFixed(0)} h old`;
  expect(hours <= maxCopyHours, `${said}; documented: ${maxCopyHours} h at most${failed}`);
  return failed ? differs(`${said}${failed}`, { hours }) : ok(said, { hours });
};

/** Keys of the newest objects whose replication has to be complete, among the first thousand of a prefix. */
const settledKeys = async (target: Target, prefix: string): Promise<string[]> => {
  const response = await fetch(await presignedRequest(target, 'GET', `?list-type=2&prefix=${prefix}%2F`));
  const text = await response.text();
  expect(response.ok, `objects of ${prefix}/ cannot be listed: ${elements(text, 'Code')[0] ?? response.status}`);
  const times = elements(text, 'LastModified').map((time) => Date.parse(time));
  const settled = Date.now() - maxReplicationMinutes * 60_000;
  return elements(text, 'Key')
    .map((key, n) => ({ key, time: times[n] as number }))
    .filter(({ time }) => time < settled)
    .sort((a, b) => b.time - a.time)
    .slice(0, newestObjects)
    .map(({ key }) => key);
};

/** Status of the newest object that S3 copies (S3: replication status information). Undefined if there is none. */
const replicationOf = async (target: Target, prefix: string): Promise<{ key: string; status: string } | undefined> => {
  for (const key of await settledKeys(target, prefix)) {
    const { ok: isOk, status: code, headers } = await fetch(await presignedRequest(target, 'HEAD', key));
    expect(isOk, `${key} cannot be read: ${code}`);
    const status = headers.get('x-amz-replication-status');
    if (status) return { key, status };
  }
  return undefined;
};

const objectCopies = async (target: Target, bucketArn: string): Promise<Outcome> => {
  const found = await Promise.all(lastingPrefixes.map((prefix) => replicationOf(target, prefix)));
  const copied = found.filter((one) => one !== undefined);
  const failed = copied.find(({ status }) => status === 'FAILED');
  expect(!failed, `S3 could not copy ${failed?.key} into ${bucketArn}`);
  const late = copied.find(({ status }) => status !== 'COMPLETED');
  if (late) return differs(`${late.key} is ${late.status} after ${maxReplicationMinutes} minutes`);
  return copied.length
    ? ok(`${copied.map(({ key }) => key.split('/')[0]).join(', ')}: the newest object is copied`)
    : differs(`no object is ${maxReplicationMinutes} minutes old and written since replicaBucketArn was set`);
};

const arnIn = ({ settings }: Target, name: 'backupVaultArn' | 'replicaBucketArn'): string | undefined =>
  settings[name] === undefined ? undefined : String(settings[name]);

export const copies: Check = {
  name: 'copies elsewhere',
  proves: 'The table was copied into `backupVaultArn`, and new objects into `replicaBucketArn`; left out without these',
  documented: `a copy of the table within ${maxCopyHours} h, of an object within ${maxReplicationMinutes} minutes (recovery)`,
  isFor: (target) => Boolean(arnIn(target, 'backupVaultArn') ?? arnIn(target, 'replicaBucketArn')),
  async perform({ target }) {
    const vault = arnIn(target, 'backupVaultArn');
    const bucket = arnIn(target, 'replicaBucketArn');
    const outcomes = [
      ...(vault ? [await tableCopy(target, vault)] : []),
      ...(bucket ? [await objectCopies(target, bucket)] : []),
    ];
    const text = outcomes.map((outcome) => outcome.text).join('; ');
    const figures = Object.assign({}, ...outcomes.map((outcome) => outcome.figures));
    return outcomes.some(({ result }) => result !== 'ok') ? differs(text, figures) : ok(text, figures);
  },
};
