import * as v from 'valibot';

/** Names that users choose, with error messages that state the allowed form. */

const plain = (subject: string, min: number, max: number) =>
  v.pipe(
    v.string(),
    v.regex(
      new RegExp(`^[A-Za-z0-9_-]{${min},${max}}$`),
      `${subject} name has ${min} to ${max} characters of A-Z, a-z, 0-9, "-" and "_"`,
    ),
  );

export const organizationName = plain('an organization', 3, 40);
export const workspaceName = plain('a workspace', 1, 90);
export const username = plain('a user', 3, 60);

export const projectName = v.pipe(
  v.string(),
  v.regex(
    /^[A-Za-z0-9_-](?:[A-Za-z0-9_ -]{1,38})[A-Za-z0-9_-]$/,
    // Clients match the first words.
    'Name may only contain A-Z, a-z, 0-9, "-", "_" and spaces, has 3 to 40 characters, and no space at either end',
  ),
);

export const email = v.pipe(
  v.string(),
  v.maxLength(254, 'may have at most 254 characters'),
  v.regex(/^[^\s@]+@[^\s@]+$/, 'must be an e-mail address'),
);

const tagForm = /^[\p{L}\p{N}_.:/=+@-][\p{L}\p{N}_.:/=+@ -]*$/u;

export const tagKey = v.pipe(
  v.string(),
  v.maxLength(128, 'a tag key has at most 128 characters'),
  v.regex(tagForm, 'a tag key has letters, digits, spaces and _ . : / = + - @, and does not begin with a space'),
);

export const tagValue = v.pipe(
  v.string(),
  v.maxLength(256, 'a tag value has at most 256 characters'),
  v.regex(/^[\p{L}\p{N}_.:/=+@ -]*$/u, 'a tag value has letters, digits, spaces and _ . : / = + - @'),
);

export const teamName = v.pipe(
  v.string(),
  v.regex(
    /^(?! )[A-Za-z0-9_/ -]{1,90}(?<! )$/,
    'a team name has 1 to 90 characters of A-Z, a-z, 0-9, "-", "_", "/" and spaces, but no space at either end',
  ),
);
export const agentPoolName = plain('an agent pool', 1, 90);
export const taskName = plain('a run task', 1, 90);
