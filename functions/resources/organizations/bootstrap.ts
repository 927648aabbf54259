import * as v from 'valibot';
import { email, organizationName, username } from '#api/names.ts';
import { environment } from '#platform/environment.ts';
import { createOneTimeSecret } from '#resources/users/one-time-secrets.ts';
import { holderOfUsername, isReserved } from '#resources/users/usernames.ts';
import { createUser } from '#resources/users/users.ts';
import { createOrganization } from './create.ts';
import { defaultOrganizationSettings, findOrganization, isNameTaken, markAsOperators } from './records.ts';

/**
 * Creates the first organization and its owner for the operator. The owner signs in with a single-use secret, which
 * is worthless to the operator afterwards.
 */

const input = v.object({
  organization: organizationName,
  email,
  username: v.optional(username),
  /** Replaces the owner's secret in an existing organization; the former one stops working. */
  rotate: v.optional(v.boolean(), false),
});

export interface Bootstrapped {
  organization: string;
  userId: string;
  /** Shown once, valid for one sign-in. */
  secret: string;
  goodUntil: string;
  /** URL at which the owner signs in. */
  signInAt: string;
}

/** @throws {Error} */
const checkNames = async ({ organization, username }: v.InferOutput<typeof input>): Promise<void> => {
  if (await isNameTaken(organization)) {
    throw new Error(
      `Organization ${organization} was deleted, and names of deleted organizations cannot be reused. Choose another name.`,
    );
  }
  if (username !== undefined && (isReserved(username) || (await holderOfUsername(username)))) {
    throw new Error(`username: ${username} has already been taken. Send another one, or omit it.`);
  }
};

const ownerOf = async (request: v.InferOutput<typeof input>): Promise<string> => {
  const existing = await findOrganization(request.organization);
  if (existing) {
    if (!request.rotate) {
      throw new Error(
        `Organization ${request.organization} exists. Send "rotate": true to get a new one-time secret for its owner.`,
      );
    }
    // Completes an interrupted first attempt.
    await createOrganization(existing.name, existing, existing.createdBy);
    if (!existing.isOperators) await markAsOperators(existing);
    return existing.createdBy;
  }
  await checkNames(request);
  const name = request.username ?? request.email.split('@')[0] ?? 'owner';
  const user = await createUser({ username: name, email: request.email });
  const settings = { ...defaultOrganizationSettings, email: request.email };
  if (!(await createOrganization(request.organization, settings, user.id, { isOperators: true }))) {
    throw new Error(
      `The organization name ${request.organization} is taken, perhaps by one that differs in case only. Choose another name.`,
    );
  }
  return user.id;
};

/** @throws {Error} when the input is invalid or the organization exists */
export const handler = async (event: unknown): Promise<Bootstrapped> => {
  const parsed = v.safeParse(input, event);
  if (!parsed.success) {
    const issues = parsed.issues.map((issue) => `${v.getDotPath(issue) ?? 'input'}: ${issue.message}`);
    throw new Error(`Send {"organization": …, "email": …}. ${issues.join('; ')}`);
  }
  const userId = await ownerOf(parsed.output);
  const { organization } = parsed.output;
  const { secret, goodUntil } = await createOneTimeSecret(userId);
  return { organization, userId, secret, goodUntil, signInAt: `${environment.publicUrl}/app` };
};
