import type { Finding } from '#clients/cli/account-checks.ts';
import { type Caller, call } from '#clients/cli/ask-aws.ts';

interface Expected {
  keyArn: string;
  /** Alarms are sent through a topic that is encrypted with the key. */
  hasAlarms: boolean;
}

/** Checks an existing key. Its policy is not changed by the deployment. */
export const keyFindings = async (caller: Caller, { keyArn, hasAlarms }: Expected): Promise<Finding[]> => {
  const region = keyArn.split(':')[3];
  if (region !== caller.region)
    return [
      {
        what: `Key ${keyArn}: it is in ${region}, but the deployment is in ${caller.region}.`,
        todo: `aws kms replicate-key --region ${region} --key-id ${keyArn.split('/')[1]} --replica-region ${caller.region}`,
      },
    ];
  const [described, policy] = await Promise.all([
    call('kms', caller, 'TrentService.DescribeKey', { KeyId: keyArn }),
    call('kms', caller, 'TrentService.GetKeyPolicy', { KeyId: keyArn, PolicyName: 'default' }),
  ]);
  if (described.text.includes('NotFoundException'))
    return [{ what: `Key ${keyArn}: it does not exist.`, todo: 'Check its ARN: aws kms list-keys' }];
  if (!described.ok) return [];
  const { KeyState } = (JSON.parse(described.text) as { KeyMetadata: { KeyState: string } }).KeyMetadata;
  const findings: Finding[] = [];
  if (KeyState === 'PendingDeletion')
    findings.push({
      what: `Key ${keyArn}: it is about to be deleted, and all data with it.`,
      todo: `aws kms cancel-key-deletion --region ${region} --key-id ${keyArn}, then aws kms enable-key with the same options`,
    });
  else if (KeyState !== 'Enabled')
    findings.push({
      what: `Key ${keyArn}: its state is ${KeyState}.`,
      todo: `aws kms enable-key --region ${region} --key-id ${keyArn}`,
    });
  if (policy.ok && hasAlarms && !policy.text.includes('cloudwatch.amazonaws.com'))
    findings.push({
      what: `Key ${keyArn}: its policy does not let CloudWatch send alarms (alarmEmail).`,
      todo: 'Allow cloudwatch.amazonaws.com kms:Decrypt and kms:GenerateDataKey in its policy (aws kms put-key-policy).',
    });
  return findings;
};
