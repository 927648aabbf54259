import type { Token } from '../../store/access/tokens.ts';
import type { User } from '../../store/access/users.ts';
import { one, type Resource } from '../answer.ts';

/** What everybody may see of a user. */
export const userDocument = (user: Pick<User, 'id'> & Partial<User>): Resource => ({
  id: user.id,
  type: 'users',
  attributes: {
    username: user.invitedAt ? null : (user.username ?? user.id),
    'is-service-account': false,
    'auth-method': 'tfc',
    'avatar-url': null,
    'v2-only': true,
    permissions: {},
  },
  relationships: {},
  links: { self: `/api/v2/users/${user.id}` },
});

/** What a user sees of itself. */
export const accountDocument = (user: User): Resource => {
  const { attributes, relationships } = userDocument(user);
  return {
    id: user.id,
    type: 'users',
    attributes: {
      ...attributes,
      email: user.email,
      'unconfirmed-email': null,
      'is-confirmed': true,
      'is-site-admin': false,
      'is-admin': false,
      'is-sso-login': false,
      'enterprise-support': false,
      'two-factor': { enabled: false, verified: false },
      permissions: {
        'can-create-organizations': true,
        'can-create-organization': true,
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
      'authentication-tokens': { links: { related: `/api/v2/users/${user.id}/authentication-tokens` } },
    },
    links: { self: `/api/v2/users/${user.id}` },
  };
};

/** `secret` only in the answer to its creation. */
export const tokenDocument = (token: Token, secret: string | null = null): Resource => ({
  id: token.id,
  type: 'authentication-tokens',
  attributes: {
    'created-at': token.createdAt,
    'last-used-at': null,
    description: token.description,
    token: secret,
    'expired-at': token.expiredAt,
  },
  relationships: { 'created-by': one('users', token.createdBy) },
});
