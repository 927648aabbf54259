import * as v from 'valibot';

/** A boolean setting; CDK passes `-c name=value` as text. */
export const yesOrNo = v.union([
  v.boolean(),
  v.pipe(
    v.picklist(['true', 'false'], 'must be true or false'),
    v.transform((text) => text === 'true'),
  ),
]);

/** A list setting: an array in cdk.json, or comma-separated on the command line. Never empty. */
export const texts = v.pipe(
  v.union([
    v.array(v.string()),
    v.pipe(
      v.string(),
      v.transform((text) => text.split(',').map((part) => part.trim())),
    ),
  ]),
  v.minLength(1, 'must name at least one'),
);
