import type { Input } from './expressions.ts';

/** The key, range or keys of a request, and the changes of an update. For display only, so it need not be exact. */
export const subjectOf = (input: Input): string => {
  const { pk, sk } = (input.Key ?? input.Item ?? {}) as Record<string, { S?: string }>;
  const { ':pk': of, ...bounds } = (input.ExpressionAttributeValues ?? {}) as Record<string, { S?: string }>;
  const about = pk
    ? [pk.S, sk?.S, input.UpdateExpression]
    : input.RequestItems
      ? [JSON.stringify(input.RequestItems).slice(0, 200)]
      : [of?.S, ...Object.values(bounds).map(({ S }) => S)];
  return [...about, input.ConsistentRead === true ? '(consistent)' : undefined].filter(Boolean).join(' ');
};
