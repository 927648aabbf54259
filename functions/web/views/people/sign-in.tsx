import { useEffect } from 'preact/hooks';
import { ApiError } from '../../../client/client.ts';
import { arriving, askForIssuer, depart, issuer, tokenOf } from '../../issuer.ts';
import { Notice } from '../../parts/basics.tsx';
import { Form, Text, textOf } from '../../parts/form.tsx';
import { Mark, Shell } from '../../parts/shell.tsx';
import { ended, signIn } from '../../session.ts';

/** Before anything else: whoever has no token sees nothing. The address stays, so that a link leads on after it. */
export const SignIn = () => {
  useEffect(() => {
    // Without an answer there is still the token.
    askForIssuer().catch(() => {});
  }, []);
  const submit = async (data: FormData) => {
    try {
      await signIn(await tokenOf((textOf(data, 'token') ?? '').trim()));
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
      throw new Error(
        'The platform does not know this token. Check that you copied all of it, and that it has not expired.',
      );
    }
  };
  return (
    <Shell title="Sign in" crumbs={[]}>
      <section class="gate panel pad stack">
        <div class="row">
          <span class="brand">
            <Mark />
          </span>
          <h1>Sign in</h1>
        </div>
        {ended.value && <Notice kind="warn">{ended.value}</Notice>}
        {arriving.value && <p role="status">Signing you in …</p>}
        {issuer.value && (
          <>
            <button type="button" class="primary" onClick={() => depart()}>
              Sign in with {issuer.value}
            </button>
            <p class="soft small">Or with an API token:</p>
          </>
        )}
        <Form submit={issuer.value ? 'Use token' : 'Sign in'} onSubmit={submit}>
          <Text
            label="API token"
            name="token"
            type="password"
            required
            autoFocus={!issuer.value}
            autoComplete="current-password"
            hint="The same token that terraform uses. It stays in the open tabs of this page and is gone when you close the last one."
          />
        </Form>
        <details>
          <summary>Where do I get a token?</summary>
          <p class="soft small">
            <code>npm start</code> prints one when the platform runs on one machine. On AWS, whoever set the platform up
            gets a one-time secret for its first owner from its Bootstrap function: paste that. Once signed in, you make
            tokens under your user name.
          </p>
        </details>
      </section>
    </Shell>
  );
};
