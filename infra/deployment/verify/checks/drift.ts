import { elements } from '#clients/cli/account-checks.ts';
import { query } from '#clients/cli/ask-aws.ts';
import { type Check, differs, ok, skipped } from '../check.ts';

const stateful = ['AWS::DynamoDB::Table', 'AWS::S3::Bucket', 'AWS::KMS::Key'];

export const drift: Check = {
  name: 'drift',
  proves: 'Table, bucket and keys are as deployed (CloudFormation: drift detection)',
  documented: 'IN_SYNC',
  async perform({ target: { stacks, caller } }) {
    if (!stacks.length) return skipped('one machine has no CloudFormation');
    const all = stacks.flatMap(({ name, resources }) =>
      resources.filter(({ type }) => stateful.includes(type)).map(({ id }) => ({ stack: name, id })),
    );
    const found: string[] = [];
    const unread: string[] = [];
    for (const { stack, id } of all) {
      const { text } = await query('cloudformation', caller, {
        Action: 'DetectStackResourceDrift',
        StackName: stack,
        LogicalResourceId: id,
        Version: '2010-05-15',
      });
      const [status] = elements(text, 'StackResourceDriftStatus');
      const paths = elements(text, 'PropertyPath').join(', ');
      if (!status || status === 'NOT_CHECKED')
        unread.push(`${id} is not checked: ${elements(text, 'Message')[0] ?? text.slice(0, 80)}`);
      else if (status !== 'IN_SYNC') found.push(`${id} ${status}${paths ? ` at ${paths}` : ''}`);
    }
    if (found.length) return differs(found.join('; '));
    const number = all.length - unread.length;
    return number
      ? ok(`${number} of ${all.length} resources in sync`, { resources: number })
      : skipped(unread.join('; '));
  },
};
