import { one, type Relationship } from '#api/answer.ts';
import { nameOf } from '#api/naming.ts';
import type { User } from './user.ts';

/** Shows the first letter of the name, so that the platform calls no avatar service. */
const avatarOf = (name: string): string => {
  const letter = /[A-Za-z0-9]/.exec(name)?.[0].toUpperCase() ?? '?';
  const text = `<text x='16' y='22' font-family='sans-serif' font-size='16' text-anchor='middle' fill='#fff'>${letter}</text>`;
  const svg = `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'><rect width='32' height='32' fill='#5a4fcf'/>${text}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
};

/** The account behind an organization's token is named after it. */
const usernameOf = ({ id, username = id, service }: Pick<User, 'id'> & Partial<User>): string =>
  service && !service.teamId
    ? username.replace(/^(api-org|audit-trail|scim)-.*$/, `$1-${nameOf(service.organization)}`)
    : username;

/** Attributes of a user that every user may see. */
export const userDocument = (user: Pick<User, 'id'> & Partial<User>) => ({
  id: user.id,
  type: 'users',
  attributes: {
    username: user.invitedAt ? null : usernameOf(user),
    'is-service-account': user.service !== undefined,
    'auth-method': 'tfc',
    'avatar-url': avatarOf(user.invitedAt ? '' : usernameOf(user)),
    'v2-only': true,
    permissions: {},
  },
  relationships: {},
  links: { self: `/api/v2/users/${user.id}` },
});

const authenticated = ({ id, service }: User): Relationship => {
  if (!service) return one('users', id);
  return service.teamId ? one('teams', service.teamId) : one('organizations', service.organization);
};

/** Attributes that users see of themselves. */
export const accountDocument = (user: User, createsOrganizations: boolean) => {
  const { attributes, relationships } = userDocument(user);
  return {
    id: user.id,
    type: 'users',
    attributes: {
      ...attributes,
      email: user.email,
      'unconfirmed-email': user.unconfirmedEmail ?? null,
      'is-confirmed': true,
      'is-site-admin': false,
      'is-admin': false,
      'is-sso-login': false,
      'enterprise-support': false,
      'two-factor': { enabled: false, verified: false },
      permissions: {
        'can-create-organizations': createsOrganizations,
        'can-create-organization': createsOrganizations,
        'can-view-organizations': true,
        'can-view-settings': true,
        'can-view-profile': true,
        'can-change-email': true,
        'can-change-username': true,
        'can-change-password': false,
        'can-manage-user-tokens': true,
      },
    },
    relationships: {
      ...relationships,
      'authenticated-resource': authenticated(user),
      'authentication-tokens': { links: { related: `/api/v2/users/${user.id}/authentication-tokens` } },
    },
    links: { self: `/api/v2/users/${user.id}` },
  };
};
