import { environment, type OidcSettings } from '#platform/environment.ts';
import { forgetParameters, readParameter } from '#platform/store/parameters.ts';

/** The issuer, if the operator configured one. */
export const issuerSettings = (): OidcSettings | undefined => environment.signIn?.oidc;

/** Label of the sign-in button: the operator's name for the issuer, or its host. */
export const issuerName = ({ name, issuer }: OidcSettings): string => name ?? new URL(issuer).host;

/** The client's secret; undefined for a public client, which relies on PKCE alone. */
export const clientSecret = async (settings: OidcSettings): Promise<string | undefined> => {
  const { clientSecretParameter: parameter } = settings;
  return parameter === undefined ? settings.clientSecret : readParameter(parameter);
};

/** Drops the cached secret after the issuer rejected it, so that the next sign-in reads it again. */
export const forgetClientSecret = (): void => {
  forgetParameters();
};
