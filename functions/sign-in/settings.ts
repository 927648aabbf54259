import { environment, type SignInSettings } from '../environment.ts';
import { callParameterStore } from '../store/aws.ts';

/** Who vouches for people, when the operator named an issuer. */
export const issuerSettings = (): SignInSettings | undefined => environment.signIn;

/** What people read on the button: the operator's name for it, else its host. */
export const issuerName = ({ name, issuer }: SignInSettings): string => name ?? new URL(issuer).host;

/** How long a function's instance goes on with a secret that may have been replaced. */
const keptMs = 5 * 60_000;
let cached: { parameter: string; secret: string; until: number } | undefined;

/** The client's secret; undefined for a client that has none and goes by PKCE alone. */
export const clientSecret = async (settings: SignInSettings): Promise<string | undefined> => {
  const { clientSecretParameter: parameter } = settings;
  if (parameter === undefined) return settings.clientSecret;
  if (cached?.parameter === parameter && cached.until > Date.now()) return cached.secret;
  const { Parameter } = await callParameterStore<{ Parameter: { Value: string } }>('GetParameter', {
    Name: parameter,
    WithDecryption: true,
  });
  cached = { parameter, secret: Parameter.Value.trim(), until: Date.now() + keptMs };
  return cached.secret;
};

/** Another one is read the next time: the issuer refused this. */
export const forgetClientSecret = (): void => {
  cached = undefined;
};
