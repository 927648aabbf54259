import * as v from 'valibot';

/**
 * Table, bucket and key that exist already: restored ones, those of a deleted deployment, or copies in another region.
 * The platform uses them in place of those of its data stack, which it neither changes nor deletes.
 */

export const existingDataEntries = {
  /** A table with the platform's data, in place of the data stack's. */
  tableName: v.optional(
    v.pipe(v.string(), v.regex(/^[A-Za-z0-9_.-]{3,255}$/, 'must be the name of a table (not its ARN)')),
  ),
  /** A bucket with the platform's objects, in place of the data stack's. */
  bucketName: v.optional(
    v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be the name of a bucket')),
  ),
  /** The key of these two, in the region of the deployment. */
  keyArn: v.optional(
    v.pipe(
      v.string(),
      v.regex(
        /^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key\/[A-Za-z0-9-]+$/,
        'must be the ARN of a key in KMS (not of an alias)',
      ),
    ),
  ),
};

const schema = v.object(existingDataEntries);
export type ExistingData = v.InferOutput<typeof schema>;

/** Problems between settings that are each valid. */
export const existingDataProblems = (settings: Record<string, unknown>): string[] =>
  settings.keyArn !== undefined && (settings.tableName === undefined || settings.bucketName === undefined)
    ? ['keyArn: needs tableName and bucketName, because one key encrypts both']
    : [];

/** Whether nothing is left for a data stack. */
export const existsWholly = ({ keyArn }: ExistingData): boolean => keyArn !== undefined;

/** A context without these settings, for a platform on one machine. */
export const withoutExistingData = (context: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(context).filter(([name]) => !Object.hasOwn(existingDataEntries, name)));
