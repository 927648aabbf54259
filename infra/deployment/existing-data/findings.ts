import type { Finding } from '#clients/cli/account-checks.ts';
import type { Caller } from '#clients/cli/ask-aws.ts';
import type { Settings } from '#infra/settings/settings.ts';
import { stackOutput } from '../deployed-settings.ts';
import { bucketFindings } from './bucket.ts';
import { keyFindings } from './key.ts';
import { tableFindings } from './table.ts';

/**
 * Differences of existing data (settings tableName, bucketName, keyArn) from what the platform needs, with the commands
 * that remove them. Changes nothing. A check without permission reports nothing.
 */
export const existingDataFindings = async (caller: Caller, settings: Settings): Promise<Finding[]> => {
  const { tableName, bucketName, stackName, removalPolicy } = settings;
  if (tableName === undefined && bucketName === undefined) return [];
  const ofStack = settings.keyArn ?? (await stackOutput(caller, `${stackName}-Data`, 'KeyArn'));
  const findings: Finding[] = [];
  const keyArn = typeof ofStack === 'string' ? ofStack : undefined;
  if (typeof ofStack !== 'string')
    findings.push({
      what: `Existing data: the key that encrypts it is unknown. ${ofStack.what}`,
      todo: 'Give all of tableName, bucketName and keyArn, unless the stack of the data still exists.',
    });
  if (settings.keyArn !== undefined) findings.push(...(await keyFindings(caller, settings.keyArn)));
  if (tableName !== undefined)
    findings.push(...(await tableFindings(caller, { tableName, keyArn, isKept: removalPolicy === 'retain' })));
  if (bucketName !== undefined)
    findings.push(...(await bucketFindings(caller, { bucketName, keyArn, retention: settings })));
  return findings;
};
