import { Stack, Validations } from 'aws-cdk-lib/core';
import type { IConstruct } from 'constructs';

/** Accepts findings of cdk-nag's AwsSolutions rules (by short name, e.g. `S1`) for a construct and its children. */
export const acknowledge = (construct: IConstruct, reasons: Record<string, string>): void => {
  for (const [rule, reason] of Object.entries(reasons)) {
    Validations.of(construct).acknowledge({ id: `AwsSolutions-${rule}`, reason });
  }
};

/** Accepts one resource with a wildcard in the policies of a role; other wildcards stay findings. */
export const acknowledgeWildcard = (construct: IConstruct, resource: string, reason: string): void =>
  acknowledge(construct, { [`IAM5[Resource::${flat(Stack.of(construct).resolve(resource))}]`]: reason });

/** As cdk-nag spells a reference in the name of a finding, e.g. `<Bucket.Arn>/states/*`. */
const flat = (value: unknown): string => {
  if (typeof value === 'string') return value;
  const [name, argument] = Object.entries(value as Record<string, unknown>)[0] ?? [];
  switch (name) {
    case 'Ref':
      return `<${argument}>`;
    case 'Fn::GetAtt':
      return `<${(argument as string[]).join('.')}>`;
    case 'Fn::Join': {
      const [delimiter, parts] = argument as [string, unknown[]];
      return parts.map(flat).join(delimiter);
    }
    default:
      return JSON.stringify(value);
  }
};
