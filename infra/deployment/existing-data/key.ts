import type { Finding } from '#clients/cli/account-checks.ts';
import { type Caller, call } from '#clients/cli/ask-aws.ts';

/** Checks an existing key. */
export const keyFindings = async (caller: Caller, keyArn: string): Promise<Finding[]> => {
  const region = keyArn.split(':')[3];
  if (region !== caller.region)
    return [
      {
        what: `Key ${keyArn}: it is in ${region}, but the deployment is in ${caller.region}.`,
        todo: `aws kms replicate-key --region ${region} --key-id ${keyArn.split('/')[1]} --replica-region ${caller.region}`,
      },
    ];
  const described = await call('kms', caller, 'TrentService.DescribeKey', { KeyId: keyArn });
  if (described.text.includes('NotFoundException'))
    return [{ what: `Key ${keyArn}: it does not exist.`, todo: 'Check its ARN: aws kms list-keys' }];
  if (!described.ok) return [];
  const { KeyState } = (JSON.parse(described.text) as { KeyMetadata: { KeyState: string } }).KeyMetadata;
  if (KeyState === 'PendingDeletion')
    return [
      {
        what: `Key ${keyArn}: it is about to be deleted, and all data with it.`,
        todo: `aws kms cancel-key-deletion --region ${region} --key-id ${keyArn}, then aws kms enable-key with the same options`,
      },
    ];
  if (KeyState === 'Enabled') return [];
  return [
    {
      what: `Key ${keyArn}: its state is ${KeyState}.`,
      todo: `aws kms enable-key --region ${region} --key-id ${keyArn}`,
    },
  ];
};
