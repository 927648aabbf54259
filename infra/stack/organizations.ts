import * as v from 'valibot';
import type { OrganizationRules } from '#platform/environment.ts';
import { texts } from './text-list.ts';

/** Settings for creating organizations, and for the organizations that use groups or administer SAML. */

const organizationName = /^[A-Za-z0-9_-]{3,40}$/;

export const organizationEntries = {
  /**
   * Users with permission to create organizations: any signed-in user, owners of an organization, or only the operator (the Bootstrap
   * function). Defaults to owners if users sign in at an issuer, otherwise to anyone.
   */
  organizationCreators: v.optional(v.picklist(['anyone', 'owners', 'operator'], 'must be anyone, owners or operator')),
  /** Organizations whose teams may have an `sso-team-id`; defaults to those that the operator created. */
  signInGroupOrganizations: v.optional(
    v.pipe(
      texts,
      v.check((names) => names.every((name) => organizationName.test(name)), 'must be names of organizations'),
    ),
  ),
  /**
   * Organization, created with Bootstrap, whose owners set up SAML (`/admin/saml-settings`); without it, there is no SAML.
   * With these settings, they can sign in as any user.
   */
  samlAdministrators: v.optional(v.pipe(v.string(), v.regex(organizationName, 'must be the name of an organization'))),
};

const schema = v.object(organizationEntries);
export type OrganizationChoices = v.InferOutput<typeof schema> & { signInIssuer?: string; signInGroupsClaim?: string };

export const organizationProblems = (settings: Record<string, unknown>): string[] =>
  settings.signInGroupOrganizations !== undefined &&
  settings.signInGroupsClaim === undefined &&
  settings.samlAdministrators === undefined
    ? ['signInGroupOrganizations: needs signInGroupsClaim or samlAdministrators']
    : [];

/** The variable `ORGANIZATION_RULES` of functions. */
export const organizationVariable = ({
  organizationCreators,
  signInGroupOrganizations: groups,
  signInIssuer,
  signInGroupsClaim,
  samlAdministrators,
}: OrganizationChoices): string => {
  const rules: OrganizationRules = {
    creators: organizationCreators ?? (signInIssuer || samlAdministrators ? 'owners' : 'anyone'),
    groups,
    ...(signInGroupsClaim || samlAdministrators ? { readsGroups: true } : {}),
    samlAdministrators,
  };
  return JSON.stringify(rules);
};

/**
 * {@link organizationVariable} from the environment of the local platform.
 * @throws {Error} that names the variable
 */
export const localOrganizationVariable = (environment: NodeJS.ProcessEnv): string => {
  const variables = {
    organizationCreators: 'STEPFORM_ORGANIZATION_CREATORS',
    signInGroupOrganizations: 'STEPFORM_SIGN_IN_GROUP_ORGANIZATIONS',
    signInGroupsClaim: 'STEPFORM_SIGN_IN_GROUPS_CLAIM',
    signInIssuer: 'STEPFORM_SIGN_IN_ISSUER',
    samlAdministrators: 'STEPFORM_SAML_ADMINISTRATORS',
  } as const;
  const named = Object.entries(variables).map(([name, variable]) => [name, environment[variable] || undefined]);
  const values = Object.fromEntries(named.filter(([, value]) => value !== undefined)) as Record<string, string>;
  const { success, output, issues = [] } = v.safeParse(schema, values);
  const problems = [
    ...issues.map((issue) => `${v.getDotPath(issue)}: ${issue.issues?.at(-1)?.message ?? issue.message}`),
    ...organizationProblems(values),
  ];
  if (problems.length || !success) {
    const isName = (word: string): word is keyof typeof variables => Object.hasOwn(variables, word);
    throw new Error(problems.join('; ').replaceAll(/\b\w+\b/g, (word) => (isName(word) ? variables[word] : word)));
  }
  const { signInIssuer, signInGroupsClaim } = values;
  return organizationVariable({ ...output, signInIssuer, signInGroupsClaim });
};
