import { environment, type SignInSettings } from '#platform/environment.ts';
import { forgetParameters, readParameter } from '#platform/store/parameters.ts';

/** Who vouches for people, when the operator named an issuer. */
export const issuerSettings = (): SignInSettings | undefined => environment.signIn;

/** What people read on the button: the operator's name for it, else its host. */
export const issuerName = ({ name, issuer }: SignInSettings): string => name ?? new URL(issuer).host;

/** The client's secret; undefined for a client that has none and goes by PKCE alone. */
export const clientSecret = async (settings: SignInSettings): Promise<string | undefined> => {
  const { clientSecretParameter: parameter } = settings;
  return parameter === undefined ? settings.clientSecret : readParameter(parameter);
};

/** Another one is read the next time: the issuer refused this. */
export const forgetClientSecret = (): void => {
  forgetParameters();
};
