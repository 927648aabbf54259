import { environment } from '#platform/environment.ts';

/**
 * URLs of this platform as a service provider, with Terraform Enterprise's paths. From the operator's settings, never from
 * a request: they decide for whom an assertion was issued.
 */

const home = (): string => environment.signIn?.baseUrl ?? environment.publicUrl;

/** Assertion consumer service: the recipient of responses. */
export const acsUrl = (): string => `${home()}/users/saml/auth`;

/** URL of the metadata, which is the entity id and so the audience. */
export const metadataUrl = (): string => `${home()}/users/saml/metadata`;
